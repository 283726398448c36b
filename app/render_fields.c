/// Fields that colour grains: what is recorded of them, and what follows from it and the contacts.
///
/// Pressure of a grain: p = (1/(dim V)) sum of -r.f over its contacts, with r from its centre to
/// the contact, f the force on it, V its volume.
#include "render.h"

#include "base/vec.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// What a field is computed from.
typedef struct field_source {
    const talus_world* world;
    talus_grains grains;
    const field_start* start;
    int component;
} field_source;

typedef enum field_class {
    FIELD_SCALAR,
    FIELD_SIGNED,
    FIELD_VECTOR,
    FIELD_SPIN,
    FIELD_GROUP
} field_class;

struct field_kind {
    const char *name, *label, *symbol, *unit, *unit_2d;
    field_class class;
    const char* summary;
    void (*fill)(const field_source* s, double* out);
};

// ---- what is recorded --------------------------------------------------------------------------

/// Component of a vector, or its size.
static double part_of(const double* vector, int dim, int component)
{
    return component >= 0 ? vector[component] : vec_norm(dim, vector);
}

static void fill_velocity(const field_source* s, double* out)
{
    const talus_grains* g = &s->grains;
    for (int64_t i = 0; i < g->count; i++) {
        out[i] = part_of(g->velocity + g->dim * i, g->dim, s->component);
    }
}

static void fill_spin(const field_source* s, double* out)
{
    const talus_grains* g = &s->grains;
    for (int64_t i = 0; i < g->count; i++) {
        out[i] = part_of(g->spin + g->spin_dim * i, g->spin_dim, s->component);
    }
}

static void fill_angle(const field_source* s, double* out)
{
    const talus_grains* g = &s->grains;
    for (int64_t i = 0; i < g->count; i++) {
        const double turn = g->rotation_dim == 1 ? remainder(g->rotation[i], 2.0 * M_PI)
                                                 : 2.0 * acos(fmin(fabs(g->rotation[4 * i]), 1.0));
        out[i] = turn * 180.0 / M_PI;
    }
}

static void fill_position(const field_source* s, double* out)
{
    const talus_grains* g = &s->grains;
    for (int64_t i = 0; i < g->count; i++) {
        out[i] = part_of(g->position + g->dim * i, g->dim, s->component);
    }
}

static void fill_radius(const field_source* s, double* out)
{
    for (int64_t i = 0; i < s->grains.count; i++) out[i] = s->grains.radius[i];
}

static void fill_mass(const field_source* s, double* out)
{
    for (int64_t i = 0; i < s->grains.count; i++) out[i] = s->grains.mass[i];
}

static void fill_id(const field_source* s, double* out)
{
    for (int64_t i = 0; i < s->grains.count; i++) out[i] = (double)s->grains.id[i];
}

static void fill_material(const field_source* s, double* out)
{
    for (int64_t i = 0; i < s->grains.count; i++) out[i] = s->grains.material[i].index;
}

static void fill_tag(const field_source* s, double* out)
{
    for (int64_t i = 0; i < s->grains.count; i++) out[i] = s->grains.tag[i];
}

static void fill_shape(const field_source* s, double* out)
{
    for (int64_t i = 0; i < s->grains.count; i++) out[i] = s->grains.solid[i].index;
}

static void fill_bound(const field_source* s, double* out)
{
    for (int64_t i = 0; i < s->grains.count; i++) out[i] = s->grains.glued_to[i].index;
}

/// Not known of a run with the method soft, nor of one recorded before there were errors.
static void fill_error(const field_source* s, double* out)
{
    const double* error = s->grains.error;
    for (int64_t i = 0; i < s->grains.count; i++) out[i] = error ? error[i] : NAN;
}

static void fill_energy(const field_source* s, double* out)
{
    const talus_grains* g = &s->grains;
    for (int64_t i = 0; i < g->count; i++) {
        const double *v = g->velocity + g->dim * i, *w = g->spin + g->spin_dim * i;
        out[i] = 0.5 * g->mass[i] * vec_dot(g->dim, v, v) +
                 0.5 * g->inertia[i] * vec_dot(g->spin_dim, w, w);
    }
}

// ---- displacement ------------------------------------------------------------------------------

/// Position of a grain as if it had never been wrapped into the periodic cell.
static void unwrapped(const talus_world* world, const talus_grains* g, int64_t i, double out[3])
{
    const talus_world_def* def = talus_world_options(world);
    for (int k = 0; k < g->dim; k++) {
        out[k] = g->position[g->dim * i + k];
        if (!def->periodic[k]) continue;
        out[k] += g->image[g->dim * i + k] * (def->cell_high[k] - def->cell_low[k]);
    }
}

bool field_begin(field_choice* field, const talus_world* world)
{
    if (!field->kind || strcmp(field->kind->name, "displacement") != 0) return true;
    const talus_grains g = talus_world_grains(world);
    field_start* s = &field->start;
    s->id = malloc((size_t)(g.count + 1) * sizeof *s->id);
    s->position = calloc((size_t)g.count + 1, 3 * sizeof *s->position);
    if (!s->id || !s->position) {
        fprintf(stderr, "talus: out of memory\n");
        return false;
    }
    s->count = g.count;
    for (int64_t i = 0; i < g.count; i++) {
        s->id[i] = g.id[i];
        unwrapped(world, &g, i, s->position + 3 * i);
    }
    return true;
}

void field_end(field_choice* field)
{
    free(field->start.id);
    free(field->start.position);
    field->start = (field_start){0};
}

/// Grains that came later have none. Ids ascend in both lists.
static void fill_displacement(const field_source* s, double* out)
{
    const talus_grains* g = &s->grains;
    int64_t k = 0;
    for (int64_t i = 0; i < g->count; i++) {
        while (k < s->start->count && s->start->id[k] < g->id[i]) k++;
        out[i] = NAN;
        if (k == s->start->count || s->start->id[k] != g->id[i]) continue;
        double moved[3] = {0};
        unwrapped(s->world, g, i, moved);
        vec_add_scaled(g->dim, moved, -1.0, s->start->position + 3 * k);
        out[i] = part_of(moved, g->dim, s->component);
    }
}

// ---- from contacts -----------------------------------------------------------------------------

/// A contact as one of its two grains feels it.
typedef struct grain_touch {
    double arm[3];   ///< from the grain's centre to the contact
    double force[3]; ///< on the grain
    double normal;   ///< normal force
} grain_touch;

/// Arm and force of contact c on the grain in this row.
static grain_touch grain_touch_of(const field_source* s, const talus_contacts* c, int64_t i,
                                  int64_t row, double sign)
{
    const talus_world_def* def = talus_world_options(s->world);
    const int dim = c->dim;
    grain_touch t = {.normal = vec_dot(dim, c->force + dim * i, c->normal + dim * i)};
    for (int k = 0; k < dim; k++) {
        t.force[k] = sign * c->force[dim * i + k];
        t.arm[k] = c->point[dim * i + k] - s->grains.position[dim * row + k];
        const double length = def->cell_high[k] - def->cell_low[k];
        if (def->periodic[k]) t.arm[k] -= length * round(t.arm[k] / length);
    }
    return t;
}

typedef double grain_touch_fn(int dim, const grain_touch* t);

/// Sum a quantity over the contacts of each grain whose force is not negligible.
static void sum_touches(const field_source* s, grain_touch_fn* quantity, double* out)
{
    const talus_contacts c = talus_world_contacts(s->world);
    double mean = 0.0;
    for (int64_t i = 0; i < s->grains.count; i++) out[i] = 0.0;
    for (int64_t i = 0; i < c.count; i++) mean += vec_norm(c.dim, c.force + c.dim * i);
    if (c.count > 0) mean /= (double)c.count;
    for (int64_t i = 0; i < c.count; i++) {
        if (!(vec_norm(c.dim, c.force + c.dim * i) > 1e-6 * mean)) continue;
        const int64_t ids[2] = {c.a[i], c.b[i]};
        for (int end = 0; end < 2; end++) {
            const int64_t row = ids[end] < 0 ? -1 : talus_world_grain_index(s->world, ids[end]);
            if (row < 0) continue;
            const grain_touch t = grain_touch_of(s, &c, i, row, end ? 1.0 : -1.0);
            out[row] += quantity(c.dim, &t);
        }
    }
}

static double count_one(int dim, const grain_touch* t)
{
    (void)dim, (void)t;
    return 1.0;
}

static double normal_force(int dim, const grain_touch* t)
{
    (void)dim;
    return t->normal;
}

static double virial(int dim, const grain_touch* t)
{
    return -vec_dot(dim, t->arm, t->force);
}

static void fill_contacts(const field_source* s, double* out)
{
    sum_touches(s, count_one, out);
}

static void fill_force(const field_source* s, double* out)
{
    sum_touches(s, normal_force, out);
}

static double volume_of(const field_source* s, int64_t i)
{
    const talus_grains* g = &s->grains;
    const double r = g->radius[i];
    if (g->solid[i].index < 0) return g->dim == 2 ? M_PI * r * r : 4.0 / 3.0 * M_PI * r * r * r;
    talus_solid_state shape;
    if (talus_world_solid(s->world, g->solid[i], &shape, NULL) != TALUS_OK) return NAN;
    return shape.volume * pow(g->scale[i], g->dim);
}

static void fill_pressure(const field_source* s, double* out)
{
    sum_touches(s, virial, out);
    for (int64_t i = 0; i < s->grains.count; i++) out[i] /= s->grains.dim * volume_of(s, i);
}

// ---- the table ---------------------------------------------------------------------------------

static const field_kind fields[] = {
    {"speed", "speed", "|v|", "m/s", NULL, FIELD_SCALAR, "size of the velocity", fill_velocity},
    {"velocity", "velocity", "v", "m/s", NULL, FIELD_VECTOR, "velocity", fill_velocity},
    {"spin", "angular velocity", "ω", "rad/s", NULL, FIELD_SPIN, "angular velocity", fill_spin},
    {"displacement", "displacement", "u", "m", NULL, FIELD_VECTOR,
     "way from where the grain was in frame 0", fill_displacement},
    {"position", "position", "", "m", NULL, FIELD_VECTOR, "position of the centre", fill_position},
    {"angle", "rotation", "φ", "degrees", NULL, FIELD_SIGNED, "how far it is turned", fill_angle},
    {"radius", "radius", "r", "m", NULL, FIELD_SCALAR,
     "radius, of a solid that of the ball about it", fill_radius},
    {"mass", "mass", "m", "kg", NULL, FIELD_SCALAR, "mass", fill_mass},
    {"energy", "kinetic energy", "", "J", NULL, FIELD_SCALAR,
     "kinetic energy of translation and rotation", fill_energy},
    {"contacts", "contacts with a force", "", "", NULL, FIELD_SCALAR, "contacts that carry a force",
     fill_contacts},
    {"force", "sum of normal forces", "", "N", NULL, FIELD_SCALAR, "sum of the normal forces on it",
     fill_force},
    {"pressure", "pressure", "p", "Pa", "N/m", FIELD_SCALAR,
     "mean normal stress in it, from the forces at its contacts", fill_pressure},
    {"error", "share in the error", "", "", NULL, FIELD_SCALAR,
     "its share in the error of the step, relative to what contacts do to it (an estimate)",
     fill_error},
    {"material", "material", "", "", NULL, FIELD_GROUP, "material, with a key", fill_material},
    {"tag", "tag", "", "", NULL, FIELD_GROUP, "label given by the scene, with a key", fill_tag},
    {"shape", "shape", "", "", NULL, FIELD_GROUP, "shape, with a key", fill_shape},
    {"bound", "bound", "", "", NULL, FIELD_GROUP, "free, fixed or glued to a wall", fill_bound},
    {"id", "number", "", "", NULL, FIELD_SCALAR, "number of the grain", fill_id},
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static const char* field_word(int index)
{
    return index < FIELD_COUNT ? fields[index].name : NULL;
}

const value_kind value_field = {
    .source = VALUE_WORD, .one = "field", .many = "fields", .word = field_word};

bool field_parse(const char* text, int dim, field_choice* out)
{
    char name[32];
    const size_t length = strcspn(text, ":");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    const int found = value_find(&value_field, name);
    if (found < 0) return false;
    *out = (field_choice){.kind = &fields[found], .component = -1};
    const field_class class = out->kind->class;
    const bool vector = class == FIELD_VECTOR || (class == FIELD_SPIN && dim == 3);
    if (!text[length]) {
        if (class == FIELD_SPIN && dim == 2) out->component = 0; // the only one, with its sign
        return true;
    }
    const char* part = text + length + 1;
    if (strcmp(part, "magnitude") == 0) return true;
    if (vector && part[0] >= 'x' && part[0] < 'x' + dim && !part[1]) {
        out->component = part[0] - 'x';
        return true;
    }
    fprintf(stderr, "talus: the field '%s' has no component '%s', %s\n", name, part,
            !vector    ? "it is a single number"
            : dim == 2 ? "only x, y and magnitude"
                       : "only x, y, z and magnitude");
    return false;
}

double* field_values(const field_choice* field, const talus_world* world)
{
    field_source s = {.world = world,
                      .grains = talus_world_grains(world),
                      .start = &field->start,
                      .component = field->component};
    double* out = malloc((size_t)(s.grains.count + 1) * sizeof *out);
    if (!out) {
        fprintf(stderr, "talus: out of memory\n");
        return NULL;
    }
    field->kind->fill(&s, out);
    return out;
}

void field_label(const field_choice* field, bool reduced, int dim, char* out, size_t size)
{
    const field_kind* k = field->kind;
    const char* unit = dim == 2 && k->unit_2d ? k->unit_2d : k->unit;
    char symbol[48] = "";
    if (k->class == FIELD_VECTOR || (k->class == FIELD_SPIN && dim == 3)) {
        const char* letter = *k->symbol ? k->symbol : "x";
        if (field->component < 0) snprintf(symbol, sizeof symbol, " |%s|", letter);
        if (field->component >= 0 && *k->symbol) {
            snprintf(symbol, sizeof symbol, " %s_{%c}", letter, 'x' + field->component);
        } else if (field->component >= 0) {
            snprintf(symbol, sizeof symbol, " %c", 'x' + field->component);
        }
    } else if (*k->symbol) {
        snprintf(symbol, sizeof symbol, " %s", k->symbol);
    }
    const bool shown = *unit && (!reduced || strcmp(unit, "degrees") == 0);
    snprintf(out, size, "%s%s%s%s%s", k->label, symbol, shown ? " (" : "", shown ? unit : "",
             shown ? ")" : "");
}

bool field_is_group(const field_choice* field)
{
    return field->kind && field->kind->class == FIELD_GROUP;
}

bool field_is_signed(const field_choice* field)
{
    const field_kind* k = field->kind;
    return k->class == FIELD_SIGNED || (field->component >= 0 && k->fill != fill_position);
}

bool field_needs_contacts(const field_choice* field)
{
    const field_kind* k = field->kind;
    return k && (k->fill == fill_contacts || k->fill == fill_force || k->fill == fill_pressure);
}

void field_group_name(const field_choice* field, const talus_world* world, int64_t group, char* out,
                      size_t size)
{
    const char* kind = field->kind->name;
    talus_wall_state wall;
    talus_solid_state shape;
    const int number = (int)group;
    if (strcmp(kind, "material") == 0 && number >= 0 && number < world->state.materials.count) {
        snprintf(out, size, "%s", world->state.materials.name[number]);
    } else if (strcmp(kind, "shape") == 0 && number < 0) {
        snprintf(out, size, world->def.dim == 2 ? "disk" : "ball");
    } else if (strcmp(kind, "shape") == 0 &&
               talus_world_solid(world, (talus_solid_id){number}, &shape, NULL) == TALUS_OK) {
        snprintf(out, size, "%s", shape.name);
    } else if (strcmp(kind, "bound") == 0 && number < 0) {
        snprintf(out, size, number == -1 ? "free" : "fixed");
    } else if (strcmp(kind, "bound") == 0 &&
               talus_world_wall(world, (talus_wall_id){number}, &wall, NULL) == TALUS_OK) {
        snprintf(out, size, "glued to %s", wall.name);
    } else {
        snprintf(out, size, "%s %lld", kind, (long long)group);
    }
}

void field_list(FILE* out)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        const bool vector = fields[i].class == FIELD_VECTOR || fields[i].class == FIELD_SPIN;
        fprintf(out, "  %-14s %s%s\n", fields[i].name, fields[i].summary,
                vector ? "; :x, :y, :z for a component" : "");
    }
}
