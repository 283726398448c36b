/// Files of other programs as scenes: what the readers fill and the writer writes down.
#ifndef TALUS_SCENE_IMPORT_H
#define TALUS_SCENE_IMPORT_H

#include "base/error.h"

#include <stdio.h>
#include <talus/exchange.h>

/// Bytes of names of materials, columns, bytes of the longest line.
enum { IMPORT_NAME = 48, IMPORT_COLUMNS = 64, IMPORT_LONGEST = 1 << 20 };

// ---- the model ---------------------------------------------------------------------------------

typedef struct import_grain {
    double position[3], velocity[3], spin[3];
    double quat[4]; ///< w x y z, unit
    double radius;  ///< of a ball; of a shape that of the ball that holds it
    double mass;    ///< 0: from the density of the material
    int material;   ///< row
    int shape;      ///< row, -1: a ball
    int64_t tag;    ///< its number in the file
    bool fixed;
} import_grain;

typedef struct import_material {
    char name[IMPORT_NAME];
    double density;      ///< 0: not known
    double friction;     ///< negative: not known
    double mass, volume; ///< sums over grains whose mass is given
    char colour[8];      ///< LMGC90: by which laws are found
} import_material;

/// A shape: convex hulls of its parts' points.
typedef struct import_shape {
    int part_count, point_count;
    int* part_sizes; ///< [part_count]
    double* points;  ///< [point_count][dim]
    double centre[3], radius;
} import_shape;

/// Lines of text that go into the scene as they are.
typedef struct import_lines {
    int count;
    int64_t capacity;
    char** line;
} import_lines;

typedef struct import_model {
    int dim;
    bool flat; ///< the file itself is two-dimensional, or says nothing of a third axis
    bool has_box, periodic[3];
    double low[3], high[3];
    bool has_gravity;
    double gravity[3];
    int64_t grain_count, grain_capacity;
    import_grain* grain;
    int material_count, shape_count;
    int64_t material_capacity, shape_capacity;
    import_material* material;
    import_shape* shape;
    import_lines walls, pairs, notes;
} import_model;

/// A ball at rest at the origin, of material 0.
import_grain import_grain_default(void);
talus_status import_add_grain(import_model* m, const import_grain* grain, talus_error* error);
/// Row of the material of this name, which is added if it is new; other signs than letters, digits
/// and underscores become underscores. -1 when memory is short.
int import_find_material(import_model* m, const char* name);
/// Row of a shape; an equal one serves again. Its mass centre and radius are found, which fails for
/// points that have no volume.
talus_status import_add_shape(import_model* m, const double* points, int point_count,
                              const int* part_sizes, int part_count, int* row, talus_error* error);
/// Replace what cannot stand in a line of YAML, such as bytes that are no UTF-8, by '?'.
void import_clean(char* text);
/// Add a line, cleaned; false when memory is short.
bool import_add_line(import_lines* lines, const char* format, ...) TALUS_PRINTF(2, 3);
void import_model_free(import_model* m);

// ---- text --------------------------------------------------------------------------------------

/// A text file, read line by line.
typedef struct import_file {
    const char* path;
    FILE* file;
    char* line; ///< the present one, without its end
    int64_t capacity;
    int64_t number; ///< of that line
    bool again;     ///< the next import_line() gives it once more
    talus_error* error;
} import_file;

/// Open a file. End with import_close(), also after a failure.
talus_status import_open(import_file* f, const char* path, talus_error* error);
void import_close(import_file* f);
/// Read the next line: 1, 0 at the end of the file, negative: a status.
int import_line(import_file* f);
/// "file:line: ..." as TALUS_ERR_FORMAT.
talus_status import_error(const import_file* f, const char* format, ...) TALUS_PRINTF(2, 3);
/// Take the next word off *rest, NULL if there is none. `separator` is ' ' for blanks. A word may
/// stand in double quotes.
char* import_word(char** rest, char separator);
/// Does the text hold one finite number and nothing else? Fortran's 1.5D-3 is one.
bool import_number(const char* text, double* out);
bool import_integer(const char* text, int64_t* out);

// ---- named columns -----------------------------------------------------------------------------

typedef enum import_field {
    IMPORT_SKIP = -1,
    IMPORT_ID,
    IMPORT_TYPE,
    IMPORT_X,
    IMPORT_Y,
    IMPORT_Z,
    IMPORT_XS, ///< in units of the box
    IMPORT_YS,
    IMPORT_ZS,
    IMPORT_RADIUS,
    IMPORT_DIAMETER,
    IMPORT_VX,
    IMPORT_VY,
    IMPORT_VZ,
    IMPORT_WX,
    IMPORT_WY,
    IMPORT_WZ,
    IMPORT_QW,
    IMPORT_QX,
    IMPORT_QY,
    IMPORT_QZ,
    IMPORT_ANGLE,
    IMPORT_MASS,
    IMPORT_DENSITY,
    IMPORT_MATERIAL,
    IMPORT_TAG,
    IMPORT_FIELDS
} import_field;

typedef struct import_columns {
    char separator;
    bool degrees; ///< angles are in degrees, not radians
    int count;
    int field[IMPORT_COLUMNS];
    bool has[IMPORT_FIELDS];
} import_columns;

/// Read the names of columns; those that mean nothing here are noted in the model.
talus_status import_name_columns(import_columns* c, const import_file* f, char* text,
                                 import_model* m);
/// Read a row and add its grain.
talus_status import_row(const import_columns* c, const import_file* f, char* text,
                        const talus_import_def* def, import_model* m);

// ---- readers and the writer --------------------------------------------------------------------

/// Read the whole file f, which is open, into the model.
talus_status import_lammps_dump(import_file* f, const talus_import_def* def, import_model* m);
talus_status import_lammps_data(import_file* f, import_model* m);
talus_status import_csv(import_file* f, const talus_import_def* def, import_model* m);
/// LMGC90 has several files, in a folder.
talus_status import_lmgc90(const talus_import_def* def, import_model* m, talus_error* error);

/// Write the scene def->out and the grains `csv`; neither may be there.
talus_status import_write(const talus_import_def* def, const import_model* m, const char* csv,
                          talus_error* error);

#endif
