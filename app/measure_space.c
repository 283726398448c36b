/// The quantities of `talus measure` that are told in docs/fields.md: space and flow.
#include "measure.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

static talus_domain_def domain_of(const measure_task* task)
{
    talus_domain_def def = talus_domain_default();
    def.bounds = task->def.region;
    return def;
}

// ---- packing -----------------------------------------------------------------------------------

talus_status measure_packing(measure_task* task, talus_error* error)
{
    const talus_domain_def def = domain_of(task);
    talus_packing p;
    TRY(talus_measure_packing(task->world, &def, &p, error));
    measure_note(task, "solid_fraction", "", p.fraction);
    measure_note(task, "volume", "m^3", p.volume);
    measure_note(task, "solid_volume", "m^3", p.solid);
    measure_note(task, "grains", "", (double)p.grains);
    return TALUS_OK;
}

talus_status measure_voronoi(measure_task* task, talus_error* error)
{
    talus_voronoi_def def = talus_voronoi_default();
    talus_voronoi v;
    def.region = task->def.region;
    def.bins = task->def.bins;
    def.boundary = !task->inner;
    TRY(talus_measure_voronoi(task->world, &def, &v, error));
    measure_note(task, "cells", "", (double)v.counted);
    int64_t cut = 0;
    for (int64_t i = 0; i < v.count; i++) cut += v.boundary[i];
    measure_note(task, "cut_by_boundary", "", (double)cut);
    measure_note(task, "local_fraction", "", v.counted > 0 ? v.mean : NAN);
    measure_note(task, "spread_of_it", "", v.counted > 0 ? v.spread : NAN);
    measure_note(task, "solid/cells", "", v.counted > 0 ? v.whole : NAN);
    double* from = calloc((size_t)v.bins, sizeof *from);
    for (int k = 0; k < v.bins && from; k++) from[k] = (double)k / v.bins;
    const measure_column columns[] = {{"fraction_from", "", from, 1, NULL},
                                      {"density", "", v.histogram, 1, NULL}};
    if (from) measured_rows(task->out, "P_fraction", 1, 2, columns, v.bins);
    task->out->failed |= !from;
    free(from);
    talus_voronoi_free(&v);
    return TALUS_OK;
}

talus_status measure_rdf(measure_task* task, talus_error* error)
{
    talus_rdf_def def = talus_rdf_default();
    talus_rdf g;
    def.domain = domain_of(task);
    def.edge = task->edge;
    def.range = task->rdf_range;
    TRY(talus_measure_rdf(task->world, &def, &g, error));
    task->rdf_range = g.width * g.bins;
    int peak = 0;
    for (int k = 1; k < g.bins; k++) peak = g.g[k] > g.g[peak] ? k : peak;
    measure_note(task, "centres", "", (double)g.centres);
    measure_note(task, "number_density", "1/m^3", g.density);
    measure_note(task, "peak", "", g.g[peak]);
    measure_note(task, "peak_at", "m", g.r[peak]);
    const measure_column columns[] = {{"r", "m", g.r, 1, NULL},
                                      {"g", "", g.g, 1, NULL},
                                      {"neighbours_within", "", g.coordination, 1, NULL}};
    measured_rows(task->out, "g_of_r", 1, 3, columns, g.bins);
    talus_rdf_free(&g);
    return TALUS_OK;
}

// ---- profiles and fields -----------------------------------------------------------------------

/// Columns of a table in the making.
typedef struct column_list {
    int count;
    measure_column column[MEASURE_MOST_COLUMNS];
} column_list;

static void add_column(column_list* list, const char* name, const char* unit, const double* data,
                       int stride, const double* weight)
{
    list->column[list->count++] = (measure_column){name, unit, data, stride, weight};
}

/// Names of components along x, y, z and along r, theta, axis.
static const char* const position_name[] = {"x", "y", "z"};
static const char* const velocity_name[2][3] = {{"velocity_x", "velocity_y", "velocity_z"},
                                                {"velocity_r", "velocity_theta", "velocity_axis"}};
static const char* const stress_name[2][9] = {
    {"stress_xx", "stress_xy", "stress_xz", "stress_yx", "stress_yy", "stress_yz", "stress_zx",
     "stress_zy", "stress_zz"},
    {"stress_rr", "stress_r_theta", "stress_r_axis", "stress_theta_r", "stress_theta_theta",
     "stress_theta_axis", "stress_axis_r", "stress_axis_theta", "stress_axis_axis"}};

static void add_velocity(column_list* list, int dim, bool radial, const double* velocity,
                         const double* mass)
{
    for (int k = 0; k < dim; k++) {
        add_column(list, velocity_name[radial][k], "m/s", velocity + k, dim, mass);
    }
}

static void add_stress(column_list* list, int dim, bool radial, const double* stress,
                       const double* volume)
{
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            add_column(list, stress_name[radial][3 * i + j], "Pa", stress + 3 * i + j, 9, volume);
        }
    }
}

/// Contact + kinetic stress, [rows][9]; the caller frees it. NULL without memory.
static double* total_stress(const double* contact, const double* kinetic, int64_t rows)
{
    double* total = malloc(sizeof *total * (size_t)(9 * rows + 1));
    for (int64_t i = 0; i < 9 * rows && total; i++) total[i] = contact[i] + kinetic[i];
    return total;
}

static talus_profile_def profile_of(const measure_task* task)
{
    talus_profile_def def = talus_profile_default();
    def.domain = domain_of(task);
    def.axis = task->axis;
    def.radial = task->radial;
    def.bins = task->def.bins;
    if (task->ends.known) {
        def.low = task->ends.low[0];
        def.high = task->ends.high[0];
    }
    return def;
}

static void stretch(measure_extent* extent, int dim, const double* low, const double* high)
{
    for (int k = 0; k < dim; k++) {
        extent->low[k] = extent->known ? fmin(extent->low[k], low[k]) : low[k];
        extent->high[k] = extent->known ? fmax(extent->high[k], high[k]) : high[k];
    }
    extent->known = true;
}

talus_status measure_profile_look(measure_task* task, talus_error* error)
{
    const measure_extent all = task->ends;
    talus_profile p;
    if (all.given) return TALUS_OK;
    task->ends.known = false; // those of this frame are wanted
    talus_profile_def def = profile_of(task);
    def.bins = 2;
    task->ends = all;
    TRY(talus_measure_profile(task->world, &def, &p, error));
    const double width = p.position[1] - p.position[0];
    const double low = p.position[0] - 0.5 * width, high = p.position[1] + 0.5 * width;
    stretch(&task->ends, 1, &low, &high);
    talus_profile_free(&p);
    return TALUS_OK;
}

talus_status measure_profile(measure_task* task, talus_error* error)
{
    const talus_profile_def def = profile_of(task);
    talus_profile p;
    column_list list = {0};
    TRY(talus_measure_profile(task->world, &def, &p, error));
    const bool contacts = talus_recording_has_contacts(task->recording);
    double* stress = total_stress(p.contact, p.kinetic, p.bins);
    double* mass = malloc(sizeof *mass * (size_t)p.bins);
    double* nothing = malloc(sizeof *nothing * (size_t)p.bins);
    for (int b = 0; b < p.bins && mass && nothing; b++) {
        mass[b] = p.density[b] * p.volume[b];
        nothing[b] = NAN;
    }
    add_column(&list, "position", "m", p.position, 1, NULL);
    add_column(&list, "volume", "m^3", p.volume, 1, NULL);
    add_column(&list, "solid_fraction", "", p.fraction, 1, p.volume);
    add_velocity(&list, p.dim, task->radial, p.velocity, mass);
    add_column(&list, "temperature", "m^2/s^2", p.temperature, 1, mass);
    if (contacts) add_stress(&list, p.dim, task->radial, stress, p.volume);
    list.count += measure_shear_columns(list.column + list.count, nothing, contacts);
    measure_note(task, "slices", "", p.bins);
    talus_rheology r;
    talus_error unimportant;
    if (talus_measure_rheology(task->world, &task->def, &r, &unimportant) >= 0) {
        measure_note(task, "mean_diameter", "m", r.diameter);
        measure_note(task, "grain_density", "kg/m^3", r.density);
    }
    const bool good = stress && mass && nothing;
    if (good) measured_rows(task->out, "profile", 1, list.count, list.column, p.bins);
    free(stress);
    free(mass);
    free(nothing);
    talus_profile_free(&p);
    return good ? TALUS_OK : error_memory(error, "a profile");
}

/// Places of the points of a field, [count][dim]; NULL without memory.
static double* field_points(const talus_field* f)
{
    double* x = malloc(sizeof *x * (size_t)(f->count * f->dim + 1));
    for (int64_t i = 0; i < f->count && x; i++) {
        int64_t rest = i;
        for (int k = 0; k < f->dim; k++) {
            x[i * f->dim + k] = f->low[k] + ((double)(rest % f->cells[k]) + 0.5) * f->spacing[k];
            rest /= f->cells[k];
        }
    }
    return x;
}

talus_status measure_field_look(measure_task* task, talus_error* error)
{
    const talus_domain_def def = domain_of(task);
    talus_packing p;
    TRY(talus_measure_packing(task->world, &def, &p, error));
    stretch(&task->box, task->dim, p.low, p.high);
    return TALUS_OK;
}

static talus_field_def field_of(const measure_task* task)
{
    talus_field_def def = talus_field_default();
    def.domain = domain_of(task);
    def.width = task->field_width;
    def.kernel = task->kernel;
    for (int k = 0; k < 3; k++) def.cells[k] = task->cells[k];
    if (!task->box.known) return def;
    def.domain.walls = false; // they may move, the grid is to stay
    for (int k = 0; k < task->dim; k++) {
        if (talus_world_options(task->world)->periodic[k]) continue;
        def.domain.bounds.low[k] = task->box.low[k];
        def.domain.bounds.high[k] = task->box.high[k];
    }
    return def;
}

talus_status measure_field(measure_task* task, talus_error* error)
{
    const talus_field_def def = field_of(task);
    talus_field f;
    column_list list = {0};
    TRY(talus_measure_field(task->world, &def, &f, error));
    task->field_width = f.width;
    double *x = field_points(&f), *stress = total_stress(f.contact, f.kinetic, f.count);
    for (int k = 0; k < f.dim; k++) add_column(&list, position_name[k], "m", x + k, f.dim, NULL);
    add_column(&list, "solid_fraction", "", f.fraction, 1, NULL);
    add_column(&list, "density", "kg/m^3", f.density, 1, NULL);
    add_velocity(&list, f.dim, false, f.velocity, f.density);
    if (talus_recording_has_contacts(task->recording)) {
        add_stress(&list, f.dim, false, stress, NULL);
    }
    measure_note(task, "points", "", (double)f.count);
    measure_note(task, "kernel_width", "m", f.width);
    const bool good = x && stress;
    if (good) measured_rows(task->out, "field", f.dim, list.count, list.column, f.count);
    free(x);
    free(stress);
    talus_field_free(&f);
    return good ? TALUS_OK : error_memory(error, "a field");
}

// ---- slopes and flow ---------------------------------------------------------------------------

talus_status measure_slope(measure_task* task, talus_error* error)
{
    talus_slope_def def = talus_slope_default();
    talus_slope s;
    def.region = task->def.region;
    def.kind = task->slope;
    def.column = task->column;
    def.touching = task->touching;
    TRY(talus_measure_slope(task->world, &def, &s, error));
    measure_note(task, "angle", "degrees", s.angle);
    measure_note(task, "error_of_it", "degrees", s.error);
    if (task->slope == TALUS_SLOPE_HEAP && task->dim == 2) {
        measure_note(task, "left_flank", "degrees", s.flank[0]);
        measure_note(task, "right_flank", "degrees", s.flank[1]);
    }
    if (task->slope == TALUS_SLOPE_HEAP) measure_note(task, "height", "m", s.height);
    measure_note(task, "roughness", "m", s.roughness);
    const measure_column columns[] = {{"distance", "m", s.distance, 1, NULL},
                                      {"top", "m", s.top, 1, NULL}};
    measured_rows(task->out, "surface", 1, 2, columns, s.count);
    talus_slope_free(&s);
    return TALUS_OK;
}

talus_status measure_flux(measure_task* task, talus_error* error)
{
    talus_gate gate = talus_gate_default(task->dim);
    talus_flux f;
    if (task->gate_axis < 0 || task->gate_axis >= task->dim) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the plane is not known: give --gate, such as --gate %c=0.1",
                         "xyz"[task->dim - 1]);
    }
    for (int k = 0; k < 3; k++) gate.normal[k] = 0.0;
    // Downwards counts along the last axis, as grains fall; along others upwards.
    gate.normal[task->gate_axis] = task->gate_axis == task->dim - 1 ? -1.0 : 1.0;
    gate.point[task->gate_axis] = task->gate_at;
    gate.region = task->def.region;
    TRY(talus_measure_flux(task->world, &gate, &f, error));
    measure_note(task, "mass_rate", "kg/s", f.mass_rate);
    measure_note(task, "volume_rate", "m^3/s", f.volume_rate);
    measure_note(task, "number_rate", "1/s", f.number_rate);
    measure_note(task, "grains_cut", "", (double)f.grains);
    // Crossings since the frame before, which is remembered.
    talus_places now;
    talus_crossings c;
    TRY(talus_measure_places(task->world, &now, error));
    talus_status status = TALUS_OK;
    if (task->places.id && now.time > task->places.time) {
        status = talus_measure_crossings(&task->places, &now, &gate, &c, error);
        if (status >= 0) {
            measure_note(task, "crossed", "", (double)(c.forward - c.backward));
            measure_note(task, "crossed_mass_rate", "kg/s", c.mass_rate);
            measure_note(task, "crossed_number_rate", "1/s", c.number_rate);
        }
    }
    talus_places_free(&task->places);
    task->places = now;
    return status;
}
