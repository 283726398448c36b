/// Structs described by one list of their fields, for checkpoints.
///
/// A checkpoint stores each field under its name and with its type; what a compiler puts between
/// the fields never gets there. The type is taken from the member itself, so a list can be short of
/// a field but not wrong about one.
#ifndef TALUS_RECORD_FIELDS_H
#define TALUS_RECORD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum stored_type {
    FIELD_F64, ///< one or several, as the size says, and so the next three
    FIELD_I64,
    FIELD_I32,
    FIELD_BOOL,
    FIELD_TEXT,   ///< characters up to a zero
    FIELD_STRUCT, ///< with fields of its own
} stored_type;

typedef struct stored_field {
    const char* name; ///< as in the file
    stored_type type;
    size_t offset, size;             ///< in its struct, bytes
    const struct stored_fields* own; ///< of a FIELD_STRUCT
} stored_field;

typedef struct stored_fields {
    const stored_field* field;
    int count;
    size_t size; ///< of the struct
} stored_fields;

/// The member's type, that of its elements if it is an array, or none: then this does not compile.
/// Enumerations are unsigned to the compiler; unsigned numbers are stored by their bits.
#define FIELD_TYPE(member)                                                                         \
    _Generic((member), double                                                                      \
             : FIELD_F64, int64_t                                                                  \
             : FIELD_I64, double*                                                                  \
             : FIELD_F64, int64_t*                                                                 \
             : FIELD_I64, uint64_t                                                                 \
             : FIELD_I64, int32_t                                                                  \
             : FIELD_I32, unsigned                                                                 \
             : FIELD_I32, bool                                                                     \
             : FIELD_BOOL, bool*                                                                   \
             : FIELD_BOOL, char*                                                                   \
             : FIELD_TEXT)
#define FIELD_ENTRY(type, member, kind, own)                                                       \
    {                                                                                              \
#member, kind, offsetof(type, member), sizeof(((type*)NULL)->member), own                  \
    }
#define FIELD(type, member) FIELD_ENTRY(type, member, FIELD_TYPE(((type*)NULL)->member), NULL)
/// A member that is a struct with a list of its own.
#define FIELD_OWN(type, member, list) FIELD_ENTRY(type, member, FIELD_STRUCT, list)
#define FIELD_LIST(type, fields)                                                                   \
    {                                                                                              \
        fields, (int)(sizeof(fields) / sizeof *(fields)), sizeof(type)                             \
    }

#endif
