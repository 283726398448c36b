/// Settings of a world as lines of numbers; see settings.h.
#include "run/settings.h"

#include "base/error.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

typedef enum number_kind { REAL, WHOLE, FLAG } number_kind;

/// Numbers in a struct: where, how many, of what kind. Enums and ids are whole numbers.
typedef struct numbers {
    size_t offset;
    int count;
    number_kind kind;
} numbers;

#define NUMBERS(type, member, count, kind)                                                         \
    {                                                                                              \
        offsetof(type, member), count, kind                                                        \
    }

static const numbers solver_numbers[] = {
    NUMBERS(talus_solver_def, method, 1, WHOLE),
    NUMBERS(talus_solver_def, order, 1, WHOLE),
    NUMBERS(talus_solver_def, stop, 1, WHOLE),
    NUMBERS(talus_solver_def, tolerance, 1, REAL),
    NUMBERS(talus_solver_def, cutoff, 1, REAL),
    NUMBERS(talus_solver_def, max_sweeps, 1, WHOLE),
    NUMBERS(talus_solver_def, warm_start, 1, FLAG),
    NUMBERS(talus_solver_def, push_out_overlap, 1, FLAG),
    NUMBERS(talus_solver_def, separate_overlaps, 1, FLAG),
    NUMBERS(talus_solver_def, vector, 1, WHOLE),
    NUMBERS(talus_solver_def, precision, 1, WHOLE),
    {0},
};

static const numbers drive_numbers[] = {
    NUMBERS(talus_drive_def, kind, 1, WHOLE),
    NUMBERS(talus_drive_def, velocity, 3, REAL),
    NUMBERS(talus_drive_def, spin, 3, REAL),
    NUMBERS(talus_drive_def, pivot, 3, REAL),
    NUMBERS(talus_drive_def, has_pivot, 1, FLAG),
    NUMBERS(talus_drive_def, amplitude, 3, REAL),
    NUMBERS(talus_drive_def, spin_amplitude, 3, REAL),
    NUMBERS(talus_drive_def, frequency, 1, REAL),
    NUMBERS(talus_drive_def, phase, 1, REAL),
    NUMBERS(talus_drive_def, mass, 1, REAL),
    NUMBERS(talus_drive_def, free_axes, 3, FLAG),
    NUMBERS(talus_drive_def, force, 3, REAL),
    NUMBERS(talus_drive_def, weight, 1, FLAG),
    NUMBERS(talus_drive_def, damping, 1, REAL),
    NUMBERS(talus_drive_def, servo_axis, 3, REAL),
    NUMBERS(talus_drive_def, stress, 1, REAL),
    NUMBERS(talus_drive_def, area, 1, REAL),
    NUMBERS(talus_drive_def, span_count, 1, WHOLE),
    NUMBERS(talus_drive_def, span_wall, 4, WHOLE),
    NUMBERS(talus_drive_def, table_rows, 1, WHOLE),
    {0},
};

// ---- telling -----------------------------------------------------------------------------------

static void tell_numbers(const void* from, const numbers* list, text_buffer* out)
{
    for (; list->count > 0; list++) {
        const char* place = (const char*)from + list->offset;
        for (int k = 0; k < list->count; k++) {
            switch (list->kind) {
            case REAL: text_add(out, " %a", ((const double*)place)[k]); break;
            case WHOLE: text_add(out, " %d", ((const int*)place)[k]); break;
            case FLAG: text_add(out, " %d", ((const bool*)place)[k]); break;
            }
        }
    }
}

/// A wall is named by its number.
static void tell_drive(const talus_world* world, int64_t wall, text_buffer* out)
{
    const talus_drive_def* drive = &world->state.walls.record[wall].drive;
    text_add(out, "drive %lld", (long long)wall);
    tell_numbers(drive, drive_numbers, out);
    for (int k = 0; k < 7 * drive->table_rows; k++) text_add(out, " %a", drive->table[k]);
    text_add(out, "\n");
}

void settings_tell(const talus_world* world, text_buffer* out)
{
    const double* g = world->def.gravity;
    text_add(out, "gravity %a %a %a\nsolver", g[0], g[1], g[2]);
    tell_numbers(&world->def.solver, solver_numbers, out);
    text_add(out, "\n");
    for (int64_t i = 0; i < world->state.walls.count; i++) {
        if (world->state.walls.present[i]) tell_drive(world, i, out);
    }
}

// ---- restoring ---------------------------------------------------------------------------------

/// The next number of a line; *good becomes false if there is none.
static double next_number(const char** at, bool* good)
{
    char* end;
    const double value = strtod(*at, &end);
    *good = *good && end != *at;
    *at = end;
    return value;
}

static void take_numbers(void* to, const numbers* list, const char** at, bool* good)
{
    for (; list->count > 0; list++) {
        char* place = (char*)to + list->offset;
        for (int k = 0; k < list->count; k++) {
            const double value = next_number(at, good);
            switch (list->kind) {
            case REAL: ((double*)place)[k] = value; break;
            case WHOLE: ((int*)place)[k] = (int)value; break;
            case FLAG: ((bool*)place)[k] = value != 0; break;
            }
        }
    }
}

static talus_status restore_drive(talus_world* world, const char* at, bool* good,
                                  talus_error* error)
{
    talus_drive_def drive = talus_drive_default();
    const int wall = (int)next_number(&at, good);
    take_numbers(&drive, drive_numbers, &at, good);
    *good = *good && drive.table_rows >= 0 && (size_t)drive.table_rows <= strlen(at);
    if (!*good) return TALUS_OK;
    const size_t count = 7 * (size_t)drive.table_rows;
    double* table = malloc(sizeof *table * (count + 1));
    if (!table) return error_memory(error, "the table of a drive");
    for (size_t k = 0; k < count; k++) table[k] = next_number(&at, good);
    drive.table = count > 0 ? table : NULL;
    const talus_status status =
        *good ? talus_world_set_drive(world, (talus_wall_id){wall}, &drive, error) : TALUS_OK;
    free(table);
    return status;
}

static talus_status restore_line(talus_world* world, const char* line, bool* good,
                                 talus_error* error)
{
    const char* at = strchr(line, ' ');
    const size_t word = at ? (size_t)(at - line) : 0;
    if (word == strlen("gravity") && strncmp(line, "gravity", word) == 0) {
        double gravity[3];
        for (int k = 0; k < 3; k++) gravity[k] = next_number(&at, good);
        return *good ? talus_world_set_gravity(world, gravity, error) : TALUS_OK;
    }
    if (word == strlen("solver") && strncmp(line, "solver", word) == 0) {
        talus_solver_def solver = talus_solver_default();
        take_numbers(&solver, solver_numbers, &at, good);
        return *good ? talus_world_set_solver(world, &solver, error) : TALUS_OK;
    }
    if (word == strlen("drive") && strncmp(line, "drive", word) == 0) {
        return restore_drive(world, at, good, error);
    }
    *good = false;
    return TALUS_OK;
}

/// Whether a text has this line.
static bool has_line(const char* text, const char* line, size_t length)
{
    for (const char* at = text; at && *at; at = strchr(at, '\n'), at += at != NULL) {
        if (strncmp(at, line, length) == 0 && at[length] == '\n') return true;
    }
    return false;
}

talus_status settings_restore(talus_world* world, const char* text, talus_error* error)
{
    text_buffer now = {0};
    talus_status status = TALUS_OK;
    bool good = true;
    settings_tell(world, &now);
    if (now.failed) status = error_memory(error, "the settings of a run");
    // What is as it should be stays untouched.
    for (const char* at = text; status == TALUS_OK && good && *at;) {
        const size_t length = strcspn(at, "\n");
        if (!has_line(now.data, at, length)) {
            char* line = strndup(at, length);
            status = line ? restore_line(world, line, &good, error)
                          : error_memory(error, "the settings of a run");
            free(line);
        }
        at += length + (at[length] == '\n');
    }
    text_free(&now);
    if (status == TALUS_OK && !good) {
        return error_set(error, TALUS_ERR_FORMAT, "the settings in the checkpoint make no sense");
    }
    return status;
}
