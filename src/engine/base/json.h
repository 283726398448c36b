/// A small JSON writer, the only one.
///
/// Every value has a key, except inside arrays where the key is NULL. Numbers that are not finite
/// become null, since JSON has no word for them; strings are escaped, bytes that are not UTF-8
/// become the replacement character.
#ifndef TALUS_BASE_JSON_H
#define TALUS_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
    FILE* file;
    int depth;
    bool fresh; ///< nothing written yet at this depth
} json;

/// Begin a document, which is one object.
json json_begin(FILE* file);
/// Begin a document that is one array, and close it.
json json_begin_array(FILE* file);
void json_end_array(json* j);
/// Close the document with a newline.
void json_end(json* j);

/// Write a string alone, quoted and escaped.
void json_quote(FILE* file, const char* text);

void json_object(json* j, const char* key);
void json_object_end(json* j);
void json_array(json* j, const char* key);
void json_array_end(json* j);

void json_string(json* j, const char* key, const char* value);
void json_number(json* j, const char* key, double value);
void json_integer(json* j, const char* key, int64_t value);
void json_unsigned(json* j, const char* key, uint64_t value);
void json_bool(json* j, const char* key, bool value);
/// A value that is JSON already.
void json_raw(json* j, const char* key, const char* value);
/// An array of numbers on one line.
void json_numbers(json* j, const char* key, int64_t count, const double* value);
void json_integers(json* j, const char* key, int64_t count, const int64_t* value);
/// Three numbers on one line.
void json_vector(json* j, const char* key, const double value[3]);

#endif
