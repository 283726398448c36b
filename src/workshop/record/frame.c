/// A frame's tables and their fields.
#include "record/frame.h"

#include "base/array.h"
#include "detect/contacts.h"
#include "state/grains.h"
#include "state/walls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* const frame_table_names[FRAME_TABLES] = {"grains", "contacts", "walls"};

frame_table* frame_table_of(frame_data* d, const char* name)
{
    if (strcmp(name, "grains") == 0) return &d->grains;
    if (strcmp(name, "contacts") == 0) return &d->contacts;
    return strcmp(name, "walls") == 0 ? &d->walls : NULL;
}

void frame_data_free(frame_data* d)
{
    for (int64_t i = 0; d->wall_name && i < d->walls.count; i++) free(d->wall_name[i]);
    free(d->wall_name);
    d->wall_name = NULL;
    for (int k = 0; k < FRAME_TABLES; k++) {
        frame_table* t = frame_table_of(d, frame_table_names[k]);
        for (int i = 0; i < t->field_count; i++) free(t->field[i].own);
        free(t->field);
        *t = (frame_table){0};
    }
}

bool frame_keep(frame_data* d)
{
    for (int k = 0; k < FRAME_TABLES; k++) {
        frame_table* t = frame_table_of(d, frame_table_names[k]);
        for (int i = 0; i < t->field_count; i++) {
            frame_field* f = &t->field[i];
            const size_t bytes = frame_element_size(f) * (size_t)f->rows * (size_t)f->width;
            if (f->own || !f->data || bytes == 0) continue;
            f->own = malloc(bytes);
            if (!f->own) return false;
            memcpy(f->own, f->data, bytes);
            f->data = f->own;
        }
    }
    return true;
}

const frame_field* frame_find(const frame_table* t, const char* name)
{
    for (int i = 0; i < t->field_count; i++) {
        if (strcmp(t->field[i].name, name) == 0) return &t->field[i];
    }
    return NULL;
}

const void* frame_numbers(const frame_table* t, const char* name, column_type type, int width)
{
    const frame_field* f = frame_find(t, name);
    return f && f->type == type && f->width == width && f->rows == t->count ? f->data : NULL;
}

bool frame_add(frame_table* t, const frame_field* field)
{
    if (!arrays_grow(&t->field_capacity, t->field_count + 1, ARRAY(t->field))) return false;
    t->field[t->field_count++] = *field;
    return true;
}

bool frame_records(const column* col, frames_options options)
{
    return (col->flags & COLUMN_FRAME) && !(options.soft && (col->flags & COLUMN_SOLVED));
}

size_t frame_element_size(const frame_field* field)
{
    const column probe = {.type = field->type};
    return column_element_size(&probe);
}

bool frame_describe(const char* table, bool reduced_units, frame_field* field)
{
    int count = 0;
    const char *unit = NULL, *doc = NULL;
    const column* cols = strcmp(table, "grains") == 0     ? grains_columns(&count)
                         : strcmp(table, "contacts") == 0 ? contacts_columns(&count)
                                                          : walls_columns(&count);
    for (int c = 0; c < count && !unit; c++) {
        if (strcmp(cols[c].name, field->name) != 0) continue;
        unit = cols[c].unit;
        doc = cols[c].doc;
    }
    if (strcmp(table, "contacts") == 0 && strcmp(field->name, FRAME_SEGMENT) == 0) {
        unit = "m";
        doc = "ends of the line: centre of a (contact point on a wall), centre of b";
    }
    if (!unit) return false;
    snprintf(field->unit, sizeof field->unit, "%s", reduced_units && unit[0] ? "reduced" : unit);
    snprintf(field->doc, sizeof field->doc, "%s", doc);
    return true;
}
