/// The quantities of `talus measure`: a line in the table at the end, and a function that notes the
/// numbers of one frame. Definitions: docs/measure.md and docs/fields.md.
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREES = 180.0 / M_PI;

static void note(measure_task* task, const char* name, const char* unit, double value)
{
    measured_number(task->out, name, unit, value);
}

// ---- forces ------------------------------------------------------------------------------------

static talus_status measure_stress(measure_task* task, talus_error* error)
{
    talus_stress s;
    talus_status status = talus_measure_stress(task->world, &task->def, &s, error);
    if (status < 0) return status;
    note(task, "pressure", "Pa", s.pressure);
    note(task, "deviator", "Pa", s.deviator);
    note(task, "deviator/pressure", "", s.deviator / s.pressure);
    measured_tensor(task->out, "stress", "Pa", task->dim, s.total);
    measured_tensor(task->out, "kinetic", "Pa", task->dim, s.kinetic);
    for (int k = 0; k < task->dim; k++) {
        char name[32];
        snprintf(name, sizeof name, "principal_%d", k + 1);
        note(task, name, "Pa", s.principal.value[k]);
    }
    if (task->dim == 2) {
        const double *d = s.principal.direction, angle = DEGREES * atan2(d[1], d[0]);
        const double known = s.deviator > 0.0 ? angle : NAN;
        note(task, "principal_angle", "degrees", known < 0.0 ? known + 180.0 : known);
    }
    note(task, "volume", "m^3", s.volume);
    return TALUS_OK;
}

static talus_status measure_fabric(measure_task* task, talus_error* error)
{
    talus_fabric f;
    talus_status status = talus_measure_fabric(task->world, &task->def, &f, error);
    if (status < 0) return status;
    const bool plane = task->dim == 2;
    note(task, "contacts", "", (double)f.contacts);
    measured_tensor(task->out, "fabric", "", task->dim, f.tensor);
    note(task, "a_c", "", f.contact_anisotropy);
    note(task, "a_n", "", f.normal_anisotropy);
    note(task, "a_t", "", f.tangential_anisotropy);
    if (plane) {
        note(task, "angle_c", "degrees", DEGREES * f.contact_angle);
        note(task, "angle_n", "degrees", DEGREES * f.normal_angle);
        note(task, "angle_t", "degrees", DEGREES * f.tangential_angle);
    }
    const char* const column[] = {plane ? "angle_from" : "cosine_from", "density", "normal_force",
                                  "tangential_force"};
    const char* const unit[] = {plane ? "rad" : "", "", "N", "N"};
    const double* data[] = {f.edge, f.rose, f.normal, f.tangential};
    measured_rows(task->out, "rose", 4, column, unit, f.bins, data);
    talus_fabric_free(&f);
    return TALUS_OK;
}

static void note_histogram(measure_task* task, const char* name, const char* of, const char* unit,
                           const talus_histogram* h)
{
    const char *const column[] = {"from", "to", of}, *const units[] = {unit, unit, ""};
    const double* data[] = {h->edge, h->edge + 1, h->density};
    measured_rows(task->out, name, 3, column, units, h->bins, data);
}

static talus_status measure_forces(measure_task* task, talus_error* error)
{
    talus_forces f;
    talus_status status = talus_measure_forces(task->world, &task->def, &f, error);
    if (status < 0) return status;
    note(task, "contacts", "", (double)f.contacts);
    note(task, "mean_normal", "N", f.mean_normal);
    note(task, "largest_normal", "N", f.largest_normal);
    note(task, "mean_tangential", "N", f.mean_tangential);
    note(task, "largest_tangential", "N", f.largest_tangential);
    note_histogram(task, "P_fn", "P(f_n/<f_n>)", "", &f.normal);
    note_histogram(task, "P_fn_log", "P(f_n/<f_n>)", "", &f.normal_log);
    note_histogram(task, "P_ft", "P(f_t/<f_t>)", "", &f.tangential);
    note_histogram(task, "P_ft_log", "P(f_t/<f_t>)", "", &f.tangential_log);
    talus_forces_free(&f);
    return TALUS_OK;
}

static talus_status measure_mobility(measure_task* task, talus_error* error)
{
    talus_forces f;
    talus_status status = talus_measure_forces(task->world, &task->def, &f, error);
    if (status < 0) return status;
    note(task, "rubbing_contacts", "", (double)f.rubbing);
    note(task, "mean_mobility", "", f.rubbing > 0 ? f.mean_mobility : NAN);
    note(task, "mobilised", "", f.rubbing > 0 ? f.mobilised : NAN);
    note(task, "sliding", "", f.rubbing > 0 ? f.sliding : NAN);
    note_histogram(task, "P_mobility", "P(f_t/bound)", "", &f.mobility);
    talus_forces_free(&f);
    return TALUS_OK;
}

static void note_network(measure_task* task, const char* which, const talus_network* n)
{
    const struct {
        const char *name, *unit;
        double value;
    } rows[] = {{"contacts", "", (double)n->contacts},
                {"share", "", n->share},
                {"pressure_share", "", n->pressure_share},
                {"deviator_share", "", n->deviator_share},
                {"a_c", "", n->anisotropy},
                {"angle", "degrees", DEGREES * n->angle},
                {"sliding", "", n->sliding}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[48];
        if (task->dim == 3 && strcmp(rows[i].name, "angle") == 0) continue;
        snprintf(name, sizeof name, "%s_%s", which, rows[i].name);
        note(task, name, rows[i].unit, rows[i].value);
    }
}

static talus_status measure_networks(measure_task* task, talus_error* error)
{
    talus_networks n;
    talus_status status = talus_measure_networks(task->world, &task->def, &n, error);
    if (status < 0) return status;
    note(task, "mean_normal", "N", n.mean_normal);
    note_network(task, "strong", &n.strong);
    note_network(task, "weak", &n.weak);
    return TALUS_OK;
}

static talus_status measure_coordination(measure_task* task, talus_error* error)
{
    for (int frictional = 0; frictional < 2; frictional++) {
        talus_coordination z;
        talus_status status = talus_measure_coordination_in(
            task->world, &task->def.region, task->def.threshold, frictional, &z, error);
        if (status < 0) return status;
        if (!frictional) note(task, "all_grains", "", z.all);
        note(task, frictional ? "backbone_2_contacts" : "backbone_dim+1_contacts", "", z.backbone);
        note(task, frictional ? "rattlers_2_contacts" : "rattlers_dim+1_contacts", "",
             (double)z.rattlers);
    }
    return TALUS_OK;
}

// ---- motion ------------------------------------------------------------------------------------

static talus_status measure_energy(measure_task* task, talus_error* error)
{
    talus_energies e;
    talus_status status = talus_measure_energies(task->world, &task->def, &e, error);
    if (status < 0) return status;
    note(task, "grains", "", (double)e.grains);
    note(task, "translational", "J", e.translational);
    note(task, "rotational", "J", e.rotational);
    note(task, "fluctuating", "J", e.fluctuating);
    note(task, "potential", "J", e.potential);
    note(task, "power_of_gravity", "W", e.gravity_power);
    note(task, "power_of_walls", "W", e.wall_power);
    return TALUS_OK;
}

static talus_status measure_rheology(measure_task* task, talus_error* error)
{
    talus_rheology r;
    talus_status status = talus_measure_rheology(task->world, &task->def, &r, error);
    if (status < 0) return status;
    note(task, "shear_rate", "1/s", r.rate);
    note(task, "shear_stress", "Pa", r.shear);
    note(task, "pressure", "Pa", r.pressure);
    note(task, "mean_diameter", "m", r.diameter);
    note(task, "grain_density", "kg/m^3", r.density);
    note(task, "I", "", r.inertial);
    note(task, "mu", "", r.friction);
    return TALUS_OK;
}

/// Row of the series at or next to a time.
static int64_t row_at(const talus_series* s, const double* column, double time)
{
    int64_t nearest = 0;
    for (int64_t i = 1; i < s->rows; i++) {
        if (fabs(column[i] - time) < fabs(column[nearest] - time)) nearest = i;
    }
    return nearest;
}

/// What only the series knows: energies of springs and sums over time.
static talus_status note_sums(measure_task* task, double from_time, double to_time,
                              talus_error* error)
{
    static const struct {
        const char *column, *name;
    } terms[] = {{"elastic_energy", "change_of_elastic"},
                 {"dissipated", "dissipated"},
                 {"input_work", "work_put_in"},
                 {"energy_error", "error"}};
    talus_series s;
    talus_status status = talus_series_read(task->directory, &s, error);
    if (status < 0) return status;
    const double* time = talus_series_column(&s, "time");
    for (size_t i = 0; i < sizeof terms / sizeof *terms && time && s.rows > 0; i++) {
        const double* x = talus_series_column(&s, terms[i].column);
        if (!x) continue;
        note(task, terms[i].name, "J",
             x[row_at(&s, time, to_time)] - x[row_at(&s, time, from_time)]);
    }
    talus_series_free(&s);
    return TALUS_OK;
}

/// What became of the energy from the first to the last frame chosen, or from the beginning to a
/// single one. What contacts took less what walls gave is all that rigid grains leave to be known.
static talus_status measure_budget(measure_task* task, talus_error* error)
{
    talus_measure_def def = talus_measure_default();
    talus_energies before, after;
    const double* times = talus_recording_times(task->recording);
    const int64_t first = task->frames.count > 1 ? task->frames.first : 0, last = task->frame;
    talus_status status = talus_measure_energies(task->world, &def, &after, error);
    if (status >= 0) status = talus_recording_show(task->recording, first, &task->world, error);
    if (status >= 0) status = talus_measure_energies(task->world, &def, &before, error);
    if (status >= 0) status = talus_recording_show(task->recording, last, &task->world, error);
    if (status < 0) return status;
    const double kinetic = after.kinetic - before.kinetic;
    const double potential = after.potential - before.potential;
    note(task, "from_time", "s", times[first]);
    note(task, "to_time", "s", times[last]);
    note(task, "change_of_kinetic", "J", kinetic);
    note(task, "change_of_potential", "J", potential);
    if (talus_world_options(task->world)->method == TALUS_METHOD_CONTACT) {
        note(task, "loss_less_wall_work", "J", -kinetic - potential);
        return TALUS_OK;
    }
    return note_sums(task, times[first], times[last], error);
}

// ---- space -------------------------------------------------------------------------------------

static talus_status measure_packing(measure_task* task, talus_error* error)
{
    talus_domain_def def = talus_domain_default();
    talus_packing p;
    def.bounds = task->def.region;
    talus_status status = talus_measure_packing(task->world, &def, &p, error);
    if (status < 0) return status;
    note(task, "solid_fraction", "", p.fraction);
    note(task, "volume", "m^3", p.volume);
    note(task, "solid_volume", "m^3", p.solid);
    note(task, "grains", "", (double)p.grains);
    return TALUS_OK;
}

static talus_status measure_voronoi(measure_task* task, talus_error* error)
{
    talus_voronoi_def def = talus_voronoi_default();
    talus_voronoi v;
    def.region = task->def.region;
    def.bins = task->def.bins;
    talus_status status = talus_measure_voronoi(task->world, &def, &v, error);
    if (status < 0) return status;
    note(task, "cells", "", (double)v.counted);
    note(task, "local_fraction", "", v.counted > 0 ? v.mean : NAN);
    note(task, "spread_of_it", "", v.counted > 0 ? v.spread : NAN);
    note(task, "solid/cells", "", v.counted > 0 ? v.whole : NAN);
    double* from = calloc((size_t)v.bins, sizeof *from);
    for (int k = 0; k < v.bins && from; k++) from[k] = (double)k / v.bins;
    const char *const column[] = {"fraction_from", "density"}, *const unit[] = {"", ""};
    const double* data[] = {from, v.histogram};
    if (from) measured_rows(task->out, "P_fraction", 2, column, unit, v.bins, data);
    task->out->failed |= !from;
    free(from);
    talus_voronoi_free(&v);
    return TALUS_OK;
}

static talus_status measure_rdf(measure_task* task, talus_error* error)
{
    talus_rdf_def def = talus_rdf_default();
    talus_rdf g;
    def.domain.bounds = task->def.region;
    def.edge = TALUS_RDF_SHELL; // the range may be larger than the box
    talus_status status = talus_measure_rdf(task->world, &def, &g, error);
    if (status < 0) return status;
    int peak = 0;
    for (int k = 1; k < g.bins; k++) peak = g.g[k] > g.g[peak] ? k : peak;
    note(task, "centres", "", (double)g.centres);
    note(task, "number_density", "1/m^3", g.density);
    note(task, "peak", "", g.g[peak]);
    note(task, "peak_at", "m", g.r[peak]);
    const char *const column[] = {"r", "g", "neighbours_within"}, *const unit[] = {"m", "", ""};
    const double* data[] = {g.r, g.g, g.coordination};
    measured_rows(task->out, "g_of_r", 3, column, unit, g.bins, data);
    talus_rdf_free(&g);
    return TALUS_OK;
}

// ---- the list ----------------------------------------------------------------------------------

static const measure_quantity quantities[] = {
    {"stress", "stress tensor of contacts and fluctuations, compression positive", true, false,
     measure_stress},
    {"fabric", "fabric tensor, anisotropies of contacts and forces, roses", true, false,
     measure_fabric},
    {"coordination", "contacts a grain, with and without rattlers", true, false,
     measure_coordination},
    {"forces", "mean and largest forces, P(f_n), P(f_t)", true, false, measure_forces},
    {"mobility", "part of the friction in use, mobilised and sliding shares", true, false,
     measure_mobility},
    {"networks", "strong and weak contacts, above and below the mean normal force", true, false,
     measure_networks},
    {"energy", "energies of the free grains, power of gravity and walls", false, false,
     measure_energy},
    {"rheology", "shear rate of a linear fit, inertial number I, friction mu = tau/p", true, false,
     measure_rheology},
    {"budget", "changes of energy from the first to the last frame, or to a single one", false,
     true, measure_budget},
    {"packing", "solid fraction of the space between the walls", false, false, measure_packing},
    {"voronoi", "solid fraction of Voronoi cells", false, false, measure_voronoi},
    {"rdf", "pair distribution g(r) of the centres", false, false, measure_rdf},
};

const measure_quantity* measure_quantities(int* count)
{
    *count = sizeof quantities / sizeof *quantities;
    return quantities;
}
