/// The quantities of `talus measure`: a line in the table at the end, and a function that notes the
/// numbers of one frame. Definitions: docs/measure.md and docs/fields.md.
#include "measure.h"

#include "base/error.h"
#include "budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREES = 180.0 / M_PI;

// ---- forces ------------------------------------------------------------------------------------

static talus_status measure_stress(measure_task* task, talus_error* error)
{
    talus_stress s;
    talus_status status = talus_measure_stress(task->world, &task->def, &s, error);
    if (status < 0) return status;
    measure_note(task, "pressure", "Pa", s.pressure);
    measure_note(task, "deviator", "Pa", s.deviator);
    measure_note(task, "deviator/pressure", "", s.deviator / s.pressure);
    measured_tensor(task->out, "stress", "Pa", task->dim, s.total);
    measured_tensor(task->out, "kinetic", "Pa", task->dim, s.kinetic);
    for (int k = 0; k < task->dim; k++) {
        char name[32];
        snprintf(name, sizeof name, "principal_%d", k + 1);
        measure_note(task, name, "Pa", s.principal.value[k]);
    }
    if (task->dim == 2) {
        const double *d = s.principal.direction, angle = DEGREES * atan2(d[1], d[0]);
        const double known = s.deviator > 0.0 ? angle : NAN;
        measure_note(task, "principal_angle", "degrees", known < 0.0 ? known + 180.0 : known);
    }
    for (int k = 0; k < 3 && task->dim == 3; k++) {
        const char* const name[] = {"principal_1_x", "principal_1_y", "principal_1_z"};
        measure_note(task, name[k], "", s.principal.direction[k]);
    }
    measure_note(task, "volume", "m^3", s.volume);
    return TALUS_OK;
}

static talus_status measure_fabric(measure_task* task, talus_error* error)
{
    talus_fabric f;
    talus_status status = talus_measure_fabric(task->world, &task->def, &f, error);
    if (status < 0) return status;
    const bool plane = task->dim == 2;
    measure_note(task, "contacts", "", (double)f.contacts);
    measured_tensor(task->out, "fabric", "", task->dim, f.tensor);
    measure_note(task, "a_c", "", f.contact_anisotropy);
    measure_note(task, "a_n", "", f.normal_anisotropy);
    measure_note(task, "a_t", "", f.tangential_anisotropy);
    if (plane) {
        measure_note(task, "angle_c", "degrees", DEGREES * f.contact_angle);
        measure_note(task, "angle_n", "degrees", DEGREES * f.normal_angle);
        measure_note(task, "angle_t", "degrees", DEGREES * f.tangential_angle);
    }
    const measure_column columns[] = {
        {plane ? "angle_from" : "cosine_from", plane ? "rad" : "", f.edge, 1, NULL},
        {"density", "", f.rose, 1, NULL},
        {"normal_force", "N", f.normal, 1, NULL},
        {"tangential_force", "N", f.tangential, 1, NULL}};
    measured_rows(task->out, "rose", 1, 4, columns, f.bins);
    talus_fabric_free(&f);
    return TALUS_OK;
}

static void note_histogram(measure_task* task, const char* name, const char* of,
                           const talus_histogram* h)
{
    const measure_column columns[] = {{"from", "", h->edge, 1, NULL},
                                      {"to", "", h->edge + 1, 1, NULL},
                                      {of, "", h->density, 1, NULL}};
    measured_rows(task->out, name, 2, 3, columns, h->bins);
}

static talus_status measure_forces(measure_task* task, talus_error* error)
{
    talus_forces f;
    talus_status status = talus_measure_forces(task->world, &task->def, &f, error);
    if (status < 0) return status;
    measure_note(task, "contacts", "", (double)f.contacts);
    measure_note(task, "mean_normal", "N", f.mean_normal);
    measure_note(task, "largest_normal", "N", f.largest_normal);
    measure_note(task, "mean_tangential", "N", f.mean_tangential);
    measure_note(task, "largest_tangential", "N", f.largest_tangential);
    note_histogram(task, "P_fn", "P(f_n/<f_n>)", &f.normal);
    note_histogram(task, "P_fn_log", "P(f_n/<f_n>)", &f.normal_log);
    note_histogram(task, "P_ft", "P(f_t/<f_t>)", &f.tangential);
    note_histogram(task, "P_ft_log", "P(f_t/<f_t>)", &f.tangential_log);
    talus_forces_free(&f);
    return TALUS_OK;
}

static talus_status measure_mobility(measure_task* task, talus_error* error)
{
    talus_forces f;
    talus_status status = talus_measure_forces(task->world, &task->def, &f, error);
    if (status < 0) return status;
    measure_note(task, "rubbing_contacts", "", (double)f.rubbing);
    measure_note(task, "mean_mobility", "", f.rubbing > 0 ? f.mean_mobility : NAN);
    measure_note(task, "mobilised", "", f.rubbing > 0 ? f.mobilised : NAN);
    measure_note(task, "sliding", "", f.rubbing > 0 ? f.sliding : NAN);
    note_histogram(task, "P_mobility", "P(f_t/bound)", &f.mobility);
    talus_forces_free(&f);
    return TALUS_OK;
}

static void note_network(measure_task* task, const char* which, const talus_subnetwork* n)
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
        measure_note(task, name, rows[i].unit, rows[i].value);
    }
}

static talus_status measure_networks(measure_task* task, talus_error* error)
{
    talus_network n;
    talus_status status = talus_measure_network(task->world, &task->def, &n, error);
    if (status < 0) return status;
    measure_note(task, "mean_normal", "N", n.mean_normal);
    note_network(task, "strong", &n.strong);
    note_network(task, "weak", &n.weak);
    return TALUS_OK;
}

static talus_status measure_coordination(measure_task* task, talus_error* error)
{
    for (int frictional = 0; frictional < 2; frictional++) {
        talus_coordination z;
        talus_status status = talus_measure_coordination(task->world, task->def.threshold,
                                                         frictional, &task->def.region, &z, error);
        if (status < 0) return status;
        if (!frictional) measure_note(task, "all_grains", "", z.all);
        // In a flow no grains hold each other, and whoever is left out of nothing is no rattler.
        const bool held = z.backbone > 0.0;
        measure_note(task, frictional ? "backbone_2_contacts" : "backbone_dim+1_contacts", "",
                     held ? z.backbone : NAN);
        measure_note(task, frictional ? "rattlers_2_contacts" : "rattlers_dim+1_contacts", "",
                     held ? (double)z.rattlers : NAN);
    }
    return TALUS_OK;
}

// ---- motion ------------------------------------------------------------------------------------

static talus_status measure_energy(measure_task* task, talus_error* error)
{
    talus_energy e;
    talus_status status = talus_measure_energy(task->world, &task->def, &e, error);
    if (status < 0) return status;
    measure_note(task, "grains", "", (double)e.grains);
    measure_note(task, "translational", "J", e.translational);
    measure_note(task, "rotational", "J", e.rotational);
    measure_note(task, "fluctuating", "J", e.fluctuating);
    measure_note(task, "potential", "J", e.potential);
    measure_note(task, "power_of_gravity", "W", e.gravity_power);
    measure_note(task, "power_of_walls", "W", e.wall_power);
    return TALUS_OK;
}

static talus_status measure_rheology(measure_task* task, talus_error* error)
{
    talus_rheology r;
    talus_status status = talus_measure_rheology(task->world, &task->def, &r, error);
    if (status < 0) return status;
    measure_note(task, "shear_rate", "1/s", r.rate);
    measure_note(task, "shear_stress", "Pa", r.shear);
    measure_note(task, "pressure", "Pa", r.pressure);
    measure_note(task, "mean_diameter", "m", r.diameter);
    measure_note(task, "grain_density", "kg/m^3", r.density);
    measure_note(task, "I", "", r.inertial);
    measure_note(task, "mu", "", r.friction);
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

/// The method soft keeps books in its series: all terms of the rows nearest to two times.
static talus_status note_books(measure_task* task, double from_time, double to_time,
                               talus_error* error)
{
    static const struct {
        const char *column, *name;
    } terms[] = {{"kinetic_energy", "change_of_kinetic"},
                 {"elastic_energy", "change_of_elastic"},
                 {"dissipated", "dissipated"},
                 {"input_work", "work_put_in"},
                 {"energy_error", "change_of_error"}};
    talus_series s;
    talus_status status = talus_series_read(task->directory, &s, error);
    if (status < 0) return status;
    const double* time = talus_series_column(&s, "time");
    if (time && s.rows > 0) {
        const int64_t from = row_at(&s, time, from_time), to = row_at(&s, time, to_time);
        measure_note(task, "from_time", "s", time[from]);
        measure_note(task, "to_time", "s", time[to]);
        for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
            const double* x = talus_series_column(&s, terms[i].column);
            if (x) measure_note(task, terms[i].name, "J", x[to] - x[from]);
        }
    }
    talus_series_free(&s);
    return TALUS_OK;
}

/// From one frame up to the one that is being measured.
static talus_status make_budget(measure_task* task, int64_t first, const talus_series* series,
                                budget* out, talus_error* error)
{
    // The recording has one world: task->world is not valid while another frame is shown.
    const talus_world* world;
    *out = (budget){0};
    talus_status status = talus_recording_show(task->recording, first, &world, error);
    if (status >= 0) status = budget_begin(out, series, world, error);
    // The quantities after this one want the frame itself, whatever became of the first.
    talus_error lost = {0};
    if (talus_recording_show(task->recording, task->frame, &task->world, &lost) < 0) {
        if (status >= 0) *error = lost;
        return TALUS_ERR_FORMAT;
    }
    return status < 0 ? status : budget_advance(out, task->world, error);
}

/// Rigid grains: energies from the frames, the walls' work from the series if there is one.
static talus_status note_losses(measure_task* task, int64_t first, talus_error* error)
{
    const double* times = talus_recording_times(task->recording);
    talus_series series;
    talus_error none;
    budget b;
    const bool has_series = talus_series_read(task->directory, &series, &none) >= 0;
    const talus_status status = make_budget(task, first, has_series ? &series : NULL, &b, error);
    if (status >= 0) {
        measure_note(task, "from_time", "s", times[first]);
        measure_note(task, "to_time", "s", times[task->frame]);
        measure_note(task, "change_of_kinetic", "J", b.kinetic);
        measure_note(task, "change_of_potential", "J", b.potential);
        measure_note(task, "wall_work", "J", b.wall_work);
        measure_note(task, "steps_between_rows", "", (double)b.most_steps);
        measure_note(task, "dissipated", "J", b.dissipated);
        measure_note(task, "loss_less_wall_work", "J", -b.kinetic - b.potential);
    }
    budget_end(&b);
    if (has_series) talus_series_free(&series);
    return status;
}

/// What became of the energy from the first to the last frame chosen, or from the beginning to a
/// single one.
static talus_status measure_budget(measure_task* task, talus_error* error)
{
    const int64_t first = task->frames.count > 1 ? task->frames.first : 0;
    const double* times = talus_recording_times(task->recording);
    if (talus_world_options(task->world)->method == TALUS_METHOD_CONTACT) {
        return note_losses(task, first, error);
    }
    return note_books(task, times[first], times[task->frame], error);
}

// ---- the list ----------------------------------------------------------------------------------

static const measure_quantity quantities[] = {
    {"stress", "stress tensor of contacts and fluctuations, compression positive", MEASURE_CONTACTS,
     measure_stress, NULL, NULL},
    {"fabric", "fabric tensor, anisotropies of contacts and forces, roses", MEASURE_CONTACTS,
     measure_fabric, NULL, NULL},
    {"coordination", "contacts per grain, with and without rattlers", MEASURE_CONTACTS,
     measure_coordination, NULL, NULL},
    {"forces", "mean and largest forces, P(f_n), P(f_t)", MEASURE_CONTACTS, measure_forces, NULL,
     NULL},
    {"mobility", "part of the friction in use, mobilised and sliding shares", MEASURE_CONTACTS,
     measure_mobility, NULL, NULL},
    {"networks", "strong and weak contacts, above and below the mean normal force",
     MEASURE_CONTACTS, measure_networks, NULL, NULL},
    {"energy", "energies of the free grains, power of gravity and walls", 0, measure_energy, NULL,
     NULL},
    {"rheology", "shear rate of a linear fit, inertial number I, friction mu = tau/p",
     MEASURE_CONTACTS, measure_rheology, NULL, NULL},
    {"budget", "changes of energy from the first to the last frame, or to a single one",
     MEASURE_ONCE, measure_budget, NULL, NULL},
    {"packing", "solid fraction of the space between the walls", 0, measure_packing, NULL, NULL},
    {"voronoi", "solid fraction of Voronoi cells", 0, measure_voronoi, NULL, NULL},
    {"rdf", "pair distribution g(r) of the centres", 0, measure_rdf, NULL, NULL},
    {.name = "profile",
     .what = "solid fraction, velocity, stress, shear rate, mu, I in slices or shells",
     .flags = MEASURE_NAMED,
     .measure = measure_profile,
     .look = measure_profile_look,
     .finish = measure_profile_finish},
    {.name = "field",
     .what = "coarse-grained density, velocity and stress on a grid",
     .flags = MEASURE_NAMED,
     .measure = measure_field,
     .look = measure_field_look},
    {"slope", "angle of repose of a heap, or of a flat surface", MEASURE_NAMED, measure_slope, NULL,
     NULL},
    {"flux", "flow of grains through the plane of --gate", MEASURE_NAMED, measure_flux, NULL, NULL},
};

const measure_quantity* measure_quantities(int* count)
{
    *count = sizeof quantities / sizeof *quantities;
    return quantities;
}
