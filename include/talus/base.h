/// Talus, common ground of the public headers: status codes, error texts, the log callback.
///
/// The library never prints, never exits and keeps no mutable globals: a failing call returns a
/// negative status and, when the caller passed a talus_error, fills it with a sentence for people.
#ifndef TALUS_BASE_H
#define TALUS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Version of the headers that a program is compiled with; talus_version() is that of the library
/// it runs with. docs/interface.md says what stays the same between two versions.
#define TALUS_VERSION_MAJOR 0
#define TALUS_VERSION_MINOR 1
#define TALUS_VERSION_PATCH 0
/// As one number, to be compared: 10203 is 1.2.3.
#define TALUS_VERSION                                                                              \
    (10000 * TALUS_VERSION_MAJOR + 100 * TALUS_VERSION_MINOR + TALUS_VERSION_PATCH)

#if defined(__GNUC__)
/// Before a declaration that a later version will not have: TALUS_DEPRECATED("use ...").
#define TALUS_DEPRECATED(instead) __attribute__((deprecated(instead)))
#define TALUS_API __attribute__((visibility("default")))
#define TALUS_PRINTF(format_index, first_argument)                                                 \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define TALUS_DEPRECATED(instead)
#define TALUS_API
#define TALUS_PRINTF(format_index, first_argument)
#endif

/// Outcome of a call. Zero is success, negative failure, positive "stopped early, all is well".
typedef enum talus_status {
    TALUS_OK = 0,
    TALUS_INTERRUPTED = 1,   ///< the caller asked the run to stop; a checkpoint was written
    TALUS_ERR_MEMORY = -1,   ///< an allocation failed
    TALUS_ERR_ARGUMENT = -2, ///< an argument or definition makes no sense
    TALUS_ERR_SCENE = -3,    ///< the scene file has errors
    TALUS_ERR_IO = -4,       ///< a file could not be read or written
    TALUS_ERR_FORMAT = -5,   ///< a file was read but is not what it should be
    TALUS_ERR_EXISTS = -6,   ///< something is there that would have been overwritten
    TALUS_ERR_NUMERIC = -7,  ///< a policy stops the run: NaN, escaped grain, no convergence
    TALUS_ERR_STATE = -8,    ///< the call does not fit the state of the object
    TALUS_ERR_DEVICE = -9,   ///< the graphics card is not there or failed
} talus_status;

/// Text of a failure. Callers own it, usually on the stack; every function accepts NULL instead.
typedef struct talus_error {
    talus_status status;
    char text[2048]; ///< one or several lines, no trailing newline
} talus_error;

/// Name of a status code, such as "TALUS_ERR_IO". Static text.
TALUS_API const char* talus_status_name(talus_status status);

typedef enum talus_log_level {
    TALUS_LOG_INFO = 0,
    TALUS_LOG_WARNING = 1,
} talus_log_level;

/// Receives the library's messages. `text` is one line without newline and dies with the call.
typedef void talus_log_fn(void* user, talus_log_level level, const char* text);

// ---- definitions -------------------------------------------------------------------------------

/// First member of every definition. Its _default() function sets it: a mark that the struct comes
/// from there, and how many bytes of it the program knows about. A later library may have more
/// fields behind these, and uses their defaults.
typedef struct talus_mark {
    uint32_t made;
    uint32_t size;
} talus_mark;

/// Declares the function that returns a definition with its defaults. It is compiled into the
/// program, so that the library learns which size the program knows.
#define TALUS_DEFAULT(type, name)                                                                  \
    TALUS_API void name##_sized(type* def, size_t size);                                           \
    static inline type name(void)                                                                  \
    {                                                                                              \
        type def;                                                                                  \
        name##_sized(&def, sizeof def);                                                            \
        return def;                                                                                \
    }                                                                                              \
    struct name##_end

// ---- ids ---------------------------------------------------------------------------------------

/// A wall of a world: walls are counted from 0 as they are added. Ids are never reused.
typedef struct talus_wall_id {
    int32_t index; ///< -1: none (TALUS_NO_WALL)
} talus_wall_id;

/// A material of a world, counted in the same way.
typedef struct talus_material_id {
    int32_t index; ///< -1: none (TALUS_NO_MATERIAL)
} talus_material_id;

/// A shape of grains and walls, counted in the same way.
typedef struct talus_solid_id {
    int32_t index; ///< -1: none (TALUS_NO_SOLID); of a grain: it is a ball
} talus_solid_id;

static const talus_wall_id TALUS_NO_WALL = {-1};
static const talus_material_id TALUS_NO_MATERIAL = {-1};
static const talus_solid_id TALUS_NO_SOLID = {-1};

/// Whether an id is none.
static inline bool talus_wall_is_none(talus_wall_id id)
{
    return id.index < 0;
}
static inline bool talus_material_is_none(talus_material_id id)
{
    return id.index < 0;
}
static inline bool talus_solid_is_none(talus_solid_id id)
{
    return id.index < 0;
}

/// Whether two ids are the same.
static inline bool talus_wall_equal(talus_wall_id a, talus_wall_id b)
{
    return a.index == b.index;
}
static inline bool talus_material_equal(talus_material_id a, talus_material_id b)
{
    return a.index == b.index;
}
static inline bool talus_solid_equal(talus_solid_id a, talus_solid_id b)
{
    return a.index == b.index;
}

// ---- what this library is ----------------------------------------------------------------------

/// Version of the library as "major.minor.patch". Static text.
TALUS_API const char* talus_version(void);
/// Git revision that the library was built from; "unknown" if it was not built in a checkout.
/// Static text.
TALUS_API const char* talus_revision(void);
/// Compiler that built the library, such as "gcc 12.2.0". Static text.
TALUS_API const char* talus_compiler(void);

#ifdef __cplusplus
}
#endif
#endif
