/// A row of the series, made from a world.
///
/// The names have no units, which depend on the scene (SI or reduced): run.json says which, and
/// series_unit() knows those of SI, as docs/files.md lists them.
#include "record/series_row.h"

#include "world/world.h"

#include <string.h>
#include <talus/measure.h>

typedef enum cell_kind { CELL_COUNT, CELL_NUMBER, CELL_FLAG } cell_kind;

/// Methods whose runs have a column.
typedef enum column_method { IN_BOTH = 0, IN_CONTACT, IN_SOFT } column_method;

typedef struct series_column {
    const char* name;
    const char* unit; ///< in SI, "" for plain numbers
    cell_kind kind;
    size_t offset; ///< in talus_step_result
    column_method method;
} series_column;

#define IN_RESULT(member) offsetof(talus_step_result, member)

static const series_column step_table[] = {
    {"step", "", CELL_COUNT, IN_RESULT(step), IN_BOTH},
    {"time", "s", CELL_NUMBER, IN_RESULT(time), IN_BOTH},
    {"grains", "", CELL_COUNT, IN_RESULT(grains), IN_BOTH},
    {"contacts", "", CELL_COUNT, IN_RESULT(contacts), IN_BOTH},
    {"active", "", CELL_COUNT, IN_RESULT(active), IN_BOTH},
    {"sweeps", "", CELL_COUNT, IN_RESULT(sweeps), IN_CONTACT},
    {"converged", "", CELL_FLAG, IN_RESULT(converged), IN_CONTACT},
    {"residual", "", CELL_NUMBER, IN_RESULT(residual), IN_CONTACT},
    {"overlap_mean", "mean diameter", CELL_NUMBER, IN_RESULT(overlap_mean), IN_BOTH},
    {"overlap_max", "mean diameter", CELL_NUMBER, IN_RESULT(overlap_max), IN_BOTH},
    {"overlap_thickness_max", "thickness", CELL_NUMBER, IN_RESULT(overlap_thickness_max), IN_BOTH},
    {"kinetic_energy", "J", CELL_NUMBER, IN_RESULT(kinetic_energy), IN_BOTH},
    {"system_size", "mean diameter", CELL_NUMBER, IN_RESULT(rigidity.system_size), IN_CONTACT},
    {"diffusion_length", "mean diameter", CELL_NUMBER, IN_RESULT(rigidity.diffusion_length),
     IN_CONTACT},
    {"stiffness", "N/m", CELL_NUMBER, IN_RESULT(rigidity.stiffness), IN_CONTACT},
    {"velocity_error", "", CELL_NUMBER, IN_RESULT(rigidity.velocity_error), IN_CONTACT},
    {"sweeps_for_rigid", "", CELL_NUMBER, IN_RESULT(rigidity.sweeps_for_rigid), IN_CONTACT},
    {"yielding", "", CELL_FLAG, IN_RESULT(rigidity.yielding), IN_CONTACT},
    {"certified", "", CELL_NUMBER, IN_RESULT(rigidity.certified), IN_CONTACT},
    {"cluster_grains", "", CELL_COUNT, IN_RESULT(rigidity.cluster_grains), IN_CONTACT},
    {"cluster_grain", "", CELL_COUNT, IN_RESULT(rigidity.cluster_grain), IN_CONTACT},
    {"worst_grain", "", CELL_COUNT, IN_RESULT(rigidity.worst_grain), IN_CONTACT},
    {"worst_grain_error", "", CELL_NUMBER, IN_RESULT(rigidity.worst_grain_error), IN_CONTACT},
    {"second", "", CELL_FLAG, IN_RESULT(second), IN_CONTACT},
    {"substeps", "", CELL_COUNT, IN_RESULT(substeps), IN_CONTACT},
    {"coarseness", "thickness", CELL_NUMBER, IN_RESULT(coarseness), IN_CONTACT},
    {"elastic_energy", "J", CELL_NUMBER, IN_RESULT(energy.elastic), IN_SOFT},
    {"dissipated", "J", CELL_NUMBER, IN_RESULT(energy.dissipated), IN_SOFT},
    {"input_work", "J", CELL_NUMBER, IN_RESULT(energy.input), IN_SOFT},
    {"energy_error", "J", CELL_NUMBER, IN_RESULT(energy.error), IN_SOFT},
};
enum { STEP_COLUMNS = sizeof step_table / sizeof step_table[0] };

/// A contact counts for the coordination when its force exceeds this share of the mean.
#define STRONG_CONTACT 1e-6

/// Columns behind those of the table: grains removed, length of the step, coordination.
enum { MORE_COLUMNS = 3 };

static bool has_column(const talus_world* world, const series_column* col)
{
    const bool soft = !method_of(world->def.method)->solves_contacts;
    return col->method == IN_BOTH || col->method == (soft ? IN_SOFT : IN_CONTACT);
}

int series_width(const talus_world* world, int64_t wall_count)
{
    int width = MORE_COLUMNS + 2 * world->def.dim * (int)wall_count;
    for (int c = 0; c < STEP_COLUMNS; c++) width += has_column(world, &step_table[c]);
    return width;
}

void series_names(const talus_world* world, int64_t wall_count, text_buffer* out)
{
    for (int c = 0; c < STEP_COLUMNS; c++) {
        if (has_column(world, &step_table[c])) text_add(out, "%s,", step_table[c].name);
    }
    text_add(out, "removed,step_length,coordination");
    for (int64_t w = 0; w < wall_count; w++) {
        for (int q = 0; q < 2; q++) {
            for (int k = 0; k < world->def.dim; k++) {
                text_add(out, ",");
                // numpy drops or joins at other characters, and a comma would shift the columns.
                text_add_word(out, world->state.walls.record[w].name);
                text_add(out, "_%s_%c", q == 0 ? "force" : "position", 'x' + k);
            }
        }
    }
    text_add(out, "\n");
}

const char* series_unit(const char* name)
{
    for (int c = 0; c < STEP_COLUMNS; c++) {
        if (strcmp(name, step_table[c].name) == 0) return step_table[c].unit;
    }
    if (strcmp(name, "step_length") == 0) return "s";
    // Of a wall: NAME_force_x, NAME_position_x.
    const size_t length = strlen(name);
    static const struct {
        const char* quantity;
        const char* unit;
    } of_walls[] = {{"_force_", "N"}, {"_position_", "m"}};
    for (size_t i = 0; i < sizeof of_walls / sizeof *of_walls; i++) {
        const size_t tail = strlen(of_walls[i].quantity) + 1;
        if (length > tail && strncmp(name + length - tail, of_walls[i].quantity, tail - 1) == 0) {
            return of_walls[i].unit;
        }
    }
    return "";
}

void series_row(const talus_world* world, double h, int64_t wall_count, double* out)
{
    for (int c = 0; c < STEP_COLUMNS; c++) {
        const series_column* col = &step_table[c];
        const char* at = (const char*)&world->last + col->offset;
        if (!has_column(world, col)) continue;
        switch (col->kind) {
        case CELL_COUNT: *out++ = (double)*(const int64_t*)at; break;
        case CELL_NUMBER: *out++ = *(const double*)at; break;
        case CELL_FLAG: *out++ = *(const bool*)at; break;
        }
    }
    *out++ = (double)world->totals.shown.removed;
    *out++ = h;
    *out++ = talus_measure_contacts_per_grain(world, STRONG_CONTACT);
    const int dim = world->def.dim;
    for (int64_t w = 0; w < wall_count; w++) {
        for (int k = 0; k < dim; k++) *out++ = world->state.walls.force[3 * w + k];
        for (int k = 0; k < dim; k++) *out++ = world->state.walls.position[3 * w + k];
    }
}
