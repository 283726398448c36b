/// LMGC90's rigid bodies as grains and walls.
///
/// A body's place is coo + X, its corners are R v with the axes a, b, g of DOF.INI as columns of R
/// (2D: the angle X(3)); LMGC90 has spins in 3D in the body's axes, omega = R (V4, V5, V6). Disks,
/// spheres, polygons and polyhedra become grains; JONCx, PLANx, xKSID and DNLYC become walls: a
/// segment with round ends, a plate, and cylinders from inside. Laws go to pairs of materials,
/// which stand for a behaviour and a colour.
#include "scene/import_lmgc90.h"

#include "base/vec.h"
#include "base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/// What a contactor becomes.
typedef enum part_kind { PART_BALL, PART_SOLID, PART_WALL, PART_NOTHING } part_kind;

static part_kind part_of(const lmgc90_contactor* c)
{
    static const struct {
        const char* name;
        part_kind kind;
    } known[] = {{"DISKx", PART_BALL},  {"SPHER", PART_BALL}, {"POLYG", PART_SOLID},
                 {"POLYR", PART_SOLID}, {"JONCx", PART_WALL}, {"PLANx", PART_WALL},
                 {"xKSID", PART_WALL},  {"DNLYC", PART_WALL}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(c->kind, known[i].name) == 0) return known[i].kind;
    }
    return PART_NOTHING;
}

// ---- rotations ---------------------------------------------------------------------------------

/// Unit quaternion of a rotation matrix: from its largest component, so that no root is of a
/// difference of equal numbers (Shepperd 1978).
static void quat_of_matrix(const double r[9], double q[4])
{
    const double trace = r[0] + r[4] + r[8];
    double size[4] = {trace, r[0], r[4], r[8]};
    int largest = 0;
    for (int k = 1; k < 4; k++) {
        if (size[k] > size[largest]) largest = k;
    }
    if (largest == 0) {
        q[0] = 1.0 + trace;
        q[1] = r[7] - r[5];
        q[2] = r[2] - r[6];
        q[3] = r[3] - r[1];
    } else {
        const int i = largest - 1, j = (i + 1) % 3, k = (i + 2) % 3;
        q[0] = r[3 * k + j] - r[3 * j + k];
        q[1 + i] = 1.0 + r[4 * i] - r[4 * j] - r[4 * k];
        q[1 + j] = r[3 * i + j] + r[3 * j + i];
        q[1 + k] = r[3 * i + k] + r[3 * k + i];
    }
    quat_normalise(q);
}

static void body_quat(const lmgc90_body* b, double q[4])
{
    q[0] = cos(0.5 * b->angle);
    q[1] = q[2] = 0.0;
    q[3] = sin(0.5 * b->angle);
    if (b->dim == 3) quat_of_matrix(b->frame, q);
}

/// A point of the body's frame in the world.
static void place_point(const lmgc90_body* b, const double local[3], double out[3])
{
    double q[4];
    body_quat(b, q);
    quat_rotate(out, q, local);
    for (int k = 0; k < b->dim; k++) out[k] += b->place[k];
}

// ---- grains ------------------------------------------------------------------------------------

static int material_of(import_model* m, const lmgc90_files* all, const lmgc90_body* b,
                       const lmgc90_contactor* c)
{
    char name[IMPORT_NAME];
    const bool colours = all->sight_count > 0;
    snprintf(name, sizeof name, "%s%s%s", b->behaviour[0] ? b->behaviour : "grain",
             colours ? "_" : "", colours ? c->colour : "");
    const int row = import_find_material(m, name);
    if (row < 0) return row;
    memcpy(m->material[row].colour, c->colour, sizeof m->material[row].colour);
    for (int i = 0; i < all->density_count; i++) {
        if (strcmp(all->density[i].name, b->behaviour) == 0) {
            m->material[row].density = all->density[i].density;
        }
    }
    return row;
}

static talus_status body_error(const lmgc90_body* b, const char* path, int64_t line,
                               const char* what, talus_error* error)
{
    return error_set(error, TALUS_ERR_FORMAT, "%s:%lld: body %lld: %s", path, (long long)line,
                     (long long)b->number, what);
}

static talus_status add_grain(import_model* m, const lmgc90_files* all, const lmgc90_body* b,
                              import_grain* g, talus_error* error)
{
    g->material = material_of(m, all, b, &b->contactor[0]);
    if (g->material < 0) return error_memory(error, "the materials of a file");
    vec_copy(3, g->velocity, b->velocity);
    body_quat(b, g->quat);
    quat_rotate(g->spin, g->quat, b->spin);
    g->fixed = b->fixed;
    g->tag = llabs(b->number) <= INT32_MAX ? b->number : 0;
    return import_add_grain(m, g, error);
}

/// Corners of all contactors as the parts of a shape. The world's centre of mass is the shape's
/// own.
static talus_status add_solid(import_model* m, const lmgc90_files* all, const lmgc90_body* b,
                              const char* path, talus_error* error)
{
    int points = 0, used = 0;
    for (int c = 0; c < b->contactor_count; c++) points += b->contactor[c].point_count;
    double* corner = malloc(sizeof *corner * (size_t)points * (size_t)b->dim + 1);
    int* sizes = malloc(sizeof *sizes * (size_t)b->contactor_count + 1);
    talus_error reason = {0};
    import_grain g = import_grain_default();
    talus_status status = corner && sizes ? TALUS_OK : error_memory(&reason, "a shape");
    for (int c = 0; status == TALUS_OK && c < b->contactor_count; c++) {
        const lmgc90_contactor* part = &b->contactor[c];
        sizes[c] = part->point_count;
        for (int i = 0; i < part->point_count; i++, used++) {
            vec_copy(b->dim, corner + used * b->dim, part->point + 3 * i);
        }
    }
    if (status == TALUS_OK) {
        status = import_add_shape(m, corner, points, sizes, b->contactor_count, &g.shape, &reason);
    }
    free(corner);
    free(sizes);
    if (status != TALUS_OK) {
        return body_error(b, path, b->contactor[0].line, reason.text, error);
    }
    g.radius = m->shape[g.shape].radius;
    place_point(b, m->shape[g.shape].centre, g.position);
    // The centre moves with the body's spin, too.
    double arm[3], turned[3], q[4];
    body_quat(b, q);
    quat_rotate(arm, q, m->shape[g.shape].centre);
    quat_rotate(turned, q, b->spin);
    TRY(add_grain(m, all, b, &g, error));
    double* v = m->grain[m->grain_count - 1].velocity;
    const double sweep[3] = {turned[1] * arm[2] - turned[2] * arm[1],
                             turned[2] * arm[0] - turned[0] * arm[2],
                             turned[0] * arm[1] - turned[1] * arm[0]};
    for (int k = 0; k < b->dim; k++) v[k] += sweep[k];
    return TALUS_OK;
}

// ---- walls -------------------------------------------------------------------------------------

static bool write_wall(import_model* m, const lmgc90_body* b, const lmgc90_contactor* c,
                       const char* name, const char* material)
{
    double q[4], x[3], axis[3][3];
    body_quat(b, q);
    place_point(b, c->shift, x);
    for (int a = 0; a < 3; a++) {
        const double local[3] = {c->frame[a], c->frame[3 + a], c->frame[6 + a]};
        quat_rotate(axis[a], q, local);
    }
    if (strcmp(c->kind, "JONCx") == 0) {
        return import_add_line(
            &m->walls,
            "{name: %s, type: segment, from: [%.15g, %.15g], to: [%.15g, %.15g], "
            "thickness: %.15g, material: %s}",
            name, x[0] - c->axes[0] * axis[0][0], x[1] - c->axes[0] * axis[0][1],
            x[0] + c->axes[0] * axis[0][0], x[1] + c->axes[0] * axis[0][1], 2.0 * c->axes[1],
            material);
    }
    if (strcmp(c->kind, "PLANx") == 0) {
        const double u = 2.0 * c->axes[0], v = 2.0 * c->axes[1];
        return import_add_line(&m->walls,
                               "{name: %s, type: plate, center: [%.15g, %.15g, %.15g], edges: "
                               "[[%.15g, %.15g, %.15g], [%.15g, %.15g, %.15g]], thickness: %.15g, "
                               "material: %s}",
                               name, x[0], x[1], x[2], u * axis[0][0], u * axis[0][1],
                               u * axis[0][2], v * axis[1][0], v * axis[1][1], v * axis[1][2],
                               2.0 * c->axes[2], material);
    }
    if (b->dim == 2) {
        return import_add_line(&m->walls,
                               "{name: %s, type: cylinder, center: [%.15g, %.15g], radius: %.15g, "
                               "material: %s}",
                               name, x[0], x[1], c->radius, material);
    }
    return import_add_line(&m->walls,
                           "{name: %s, type: cylinder, center: [%.15g, %.15g, %.15g], axis: "
                           "[%.15g, %.15g, %.15g], radius: %.15g, length: %.15g, material: %s}",
                           name, x[0], x[1], x[2], axis[2][0], axis[2][1], axis[2][2], c->radius,
                           2.0 * c->height, material);
}

static talus_status add_walls(import_model* m, const lmgc90_files* all, const lmgc90_body* b,
                              const char* path, talus_error* error)
{
    for (int i = 0; i < b->contactor_count; i++) {
        const lmgc90_contactor* c = &b->contactor[i];
        const bool round = strcmp(c->kind, "xKSID") == 0 || strcmp(c->kind, "DNLYC") == 0;
        const bool plane = strcmp(c->kind, "JONCx") == 0 || strcmp(c->kind, "xKSID") == 0;
        const bool sized = round ? c->radius > 0.0
                                 : c->axes[0] > 0.0 && c->axes[1] >= 0.0 && c->axes[2] >= 0.0 &&
                                       (b->dim == 2 || c->axes[1] > 0.0);
        if (plane != (b->dim == 2)) {
            return body_error(b, path, c->line, "its contactor is of the other dimension", error);
        }
        if (!sized) return body_error(b, path, c->line, "its sizes must be > 0", error);
        char name[IMPORT_NAME];
        snprintf(name, sizeof name, "body%lld%s", (long long)b->number, i > 0 ? "_" : "");
        const size_t used = strlen(name);
        if (i > 0) snprintf(name + used, sizeof name - used, "%d", i);
        const int row = material_of(m, all, b, c);
        if (row < 0 || !write_wall(m, b, c, name, m->material[row].name)) {
            return error_memory(error, "the walls of a file");
        }
    }
    return TALUS_OK;
}

// ---- all bodies --------------------------------------------------------------------------------

/// Bodies that a scene cannot have, and what became of others.
typedef struct left_out {
    int64_t kinds, soft, other, driven;
    char example[LMGC90_WORD];
} left_out;

static talus_status add_body(import_model* m, const lmgc90_files* all, const lmgc90_body* b,
                             const char* path, left_out* left, talus_error* error)
{
    int count[PART_NOTHING + 1] = {0};
    for (int c = 0; c < b->contactor_count; c++) count[part_of(&b->contactor[c])]++;
    const int n = b->contactor_count;
    if (b->dim == 0 || b->dim != m->dim) {
        left->soft++;
        return TALUS_OK;
    }
    if (b->driven && !b->fixed) left->driven++;
    if (n == 1 && count[PART_BALL] == 1) {
        const lmgc90_contactor* c = &b->contactor[0];
        import_grain g = import_grain_default();
        g.radius = c->radius;
        if (!(c->radius > 0.0)) {
            return body_error(b, path, c->line, "its radius (byrd=) must be > 0", error);
        }
        place_point(b, c->shift, g.position);
        return add_grain(m, all, b, &g, error);
    }
    if (n > 0 && count[PART_SOLID] == n) return add_solid(m, all, b, path, error);
    if (n > 0 && count[PART_WALL] == n) return add_walls(m, all, b, path, error);
    left->kinds++;
    if (n > 0) lmgc90_copy(left->example, b->contactor[n - 1].kind);
    return TALUS_OK;
}

static talus_status add_bodies(import_model* m, const lmgc90_files* all, const char* path,
                               talus_error* error)
{
    left_out left = {0};
    for (int64_t i = 0; i < all->body_count && m->dim == 0; i++) m->dim = all->body[i].dim;
    if (m->dim == 0) return error_set(error, TALUS_ERR_FORMAT, "%s: no body is rigid", path);
    for (int64_t i = 0; i < all->body_count; i++) {
        TRY(add_body(m, all, &all->body[i], path, &left, error));
    }
    if (left.soft > 0) {
        import_add_line(&m->notes, "%lld bod%s that no rigid %dD grain stands for left out",
                        (long long)left.soft, left.soft == 1 ? "y was" : "ies were", m->dim);
    }
    if (left.kinds > 0) {
        import_add_line(&m->notes, "%lld bod%s left out: no shape stands for contactors such as %s",
                        (long long)left.kinds, left.kinds == 1 ? "y was" : "ies were",
                        left.example[0] ? left.example : "none");
    }
    if (left.driven > 0) {
        import_add_line(&m->notes, "driven motions (DRV_DOF.DAT) of %lld bod%s not carried over",
                        (long long)left.driven, left.driven == 1 ? "y were" : "ies were");
    }
    if (m->walls.count > 0) import_add_line(&m->notes, "walls stand still");
    return TALUS_OK;
}

// ---- laws --------------------------------------------------------------------------------------

/// The law of two colours, NULL if the see-table has none.
static const lmgc90_law* law_between(const lmgc90_files* all, const char* a, const char* b)
{
    for (int i = 0; i < all->sight_count; i++) {
        const lmgc90_sight* s = &all->sight[i];
        const bool same = strcmp(s->colour[0], a) == 0 && strcmp(s->colour[1], b) == 0;
        const bool turned = strcmp(s->colour[0], b) == 0 && strcmp(s->colour[1], a) == 0;
        for (int k = 0; (same || turned) && k < all->law_count; k++) {
            if (strcmp(all->law[k].name, s->law) == 0) return &all->law[k];
        }
        if (same || turned) return NULL;
    }
    return NULL;
}

static void add_laws(import_model* m, const lmgc90_files* all)
{
    int blind = 0;
    for (int i = 0; all->sight_count > 0 && i < m->material_count; i++) {
        for (int j = i; j < m->material_count; j++) {
            const import_material *a = &m->material[i], *b = &m->material[j];
            const lmgc90_law* law = law_between(all, a->colour, b->colour);
            if (!law || law->friction < 0.0) {
                blind++;
                continue;
            }
            import_add_line(&m->pairs,
                            "{between: [%s, %s], friction: %.15g, restitution: %.15g, "
                            "tangential_restitution: %.15g}",
                            a->name, b->name, law->friction, fmin(fmax(law->restitution, 0.0), 1.0),
                            fmin(fmax(law->tangential_restitution, 0.0), 1.0));
        }
    }
    if (blind > 0) {
        import_add_line(&m->notes,
                        "%d pair%s of materials without a law with friction touch%s without "
                        "friction here; in LMGC90 they may not see each other",
                        blind, plural(blind), blind == 1 ? "es" : "");
    }
}

// ---- files -------------------------------------------------------------------------------------

/// "folder/name" on the heap, NULL when memory is short.
static char* join(const char* folder, const char* name)
{
    char* path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

typedef enum lmgc90_file { FILE_DOF, FILE_DRIVEN, FILE_BULK, FILE_LAWS, FILE_KINDS } lmgc90_file;

/// Read a file beside BODIES.DAT; one that is missing is noted, unless it was asked for.
static talus_status read_beside(lmgc90_file kind, const char* folder, const char* wanted,
                                lmgc90_files* all, import_model* m, talus_error* error)
{
    static const char* const names[FILE_KINDS] = {"DOF.INI", "DRV_DOF.DAT", "BULK_BEHAV.DAT",
                                                  "TACT_BEHAV.DAT"};
    char* path = wanted ? strdup(wanted) : join(folder, names[kind]);
    if (!path) return error_memory(error, "a file name");
    struct stat facts;
    if (!wanted && !(stat(path, &facts) == 0 && S_ISREG(facts.st_mode))) {
        import_add_line(&m->notes, "there is no %s", names[kind]);
        free(path);
        return TALUS_OK;
    }
    import_file f;
    talus_status status = import_open(&f, path, error);
    if (status == TALUS_OK) {
        switch (kind) {
        case FILE_DOF: status = lmgc90_read_dof(&f, all); break;
        case FILE_DRIVEN: status = lmgc90_read_driven(&f, all); break;
        case FILE_BULK: status = lmgc90_read_bulk(&f, all, m); break;
        default: status = lmgc90_read_laws(&f, all); break;
        }
    }
    import_close(&f);
    free(path);
    return status;
}

static talus_status read_all(const talus_import_def* def, const char* folder, const char* bodies,
                             lmgc90_files* all, import_model* m, talus_error* error)
{
    import_file f;
    talus_status status = import_open(&f, bodies, error);
    if (status == TALUS_OK) status = lmgc90_read_bodies(&f, all);
    import_close(&f);
    if (status != TALUS_OK) return status;
    for (int64_t i = 0; i < all->body_count; i++) {
        if (all->body[i].dim == 2) all->body[i].angle = all->body[i].place[2];
        if (all->body[i].dim == 2) all->body[i].place[2] = 0.0;
    }
    for (lmgc90_file kind = 0; kind < FILE_KINDS; kind++) {
        const char* wanted = kind == FILE_DOF ? def->dof : NULL;
        TRY(read_beside(kind, folder, wanted, all, m, error));
    }
    TRY(add_bodies(m, all, bodies, error));
    add_laws(m, all);
    return TALUS_OK;
}

talus_status import_lmgc90(const talus_import_def* def, import_model* m, talus_error* error)
{
    struct stat facts;
    const char* slash = strrchr(def->path, '/');
    const bool folder = stat(def->path, &facts) == 0 && S_ISDIR(facts.st_mode);
    char* place = folder  ? strdup(def->path)
                  : slash ? strndup(def->path, (size_t)(slash - def->path))
                          : strdup(".");
    char* bodies = !folder ? strdup(def->path) : join(def->path, "BODIES.DAT");
    lmgc90_files all = {0};
    talus_status status = place && bodies ? read_all(def, place, bodies, &all, m, error)
                                          : error_memory(error, "a file name");
    lmgc90_free(&all);
    free(place);
    free(bodies);
    return status;
}
