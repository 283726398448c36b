/// Contacts with walls and polygons: finding, matching, meeting; see general_contacts.h.
#include "soft/general_contacts.h"

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "detect/narrow.h"
#include "geometry/feature.h"

#include <stdlib.h>
#include <string.h>

/// Contacts that have changed their names (a ball that rolls over an edge, a region that has spread
/// to another part) go on with the history of the nearest one whose normal differs by less than
/// this cosine.
static const double SAME_NORMAL = 0.9;

void general_contacts_init(general_contacts* o, int dim)
{
    *o = (general_contacts){.dim = dim};
    contacts_init(&o->list, dim);
    contacts_init(&o->found, dim);
}

static void answers_free(contact_answers* a)
{
    free(a->elastic);
    free(a->loss);
    free(a->power);
    free(a->arm_a);
    free(a->arm_b);
    *a = (contact_answers){0};
}

void general_contacts_free(general_contacts* o)
{
    contacts_free(&o->list);
    contacts_free(&o->found);
    answers_free(&o->answers);
    answers_free(&o->fresh);
    free(o->from);
    free(o->margin);
    free(o->escaped);
    free(o->far);
    free(o->first_of);
    free(o->next_of);
    free(o->near);
    area_shapes_free(&o->shapes);
    general_contacts_init(o, o->dim);
}

// ---- memory ------------------------------------------------------------------------------------

/// Room for what is known of every grain and wall.
static talus_status reserve_bodies(general_contacts* o, const general_task* t)
{
    const int64_t most = t->g->count + t->w->count + 1;
    if (most <= o->body_capacity) return TALUS_OK;
    o->far_known = false;
    if (!arrays_renew(&o->body_capacity, most, ARRAY(o->margin), ARRAY(o->escaped),
                      ARRAY(o->far))) {
        return TALUS_ERR_MEMORY;
    }
    memset(o->margin, 0, (size_t)o->body_capacity * sizeof *o->margin);
    return TALUS_OK;
}

static talus_status answers_reserve(contact_answers* a, int64_t count, int dim)
{
    return arrays_renew(&a->capacity, count, ARRAY(a->elastic), ARRAY(a->loss), ARRAY(a->power),
                        ROWS(a->arm_a, dim), ROWS(a->arm_b, dim))
               ? TALUS_OK
               : TALUS_ERR_MEMORY;
}

talus_status general_contacts_reserve(general_contacts* o, int64_t count)
{
    TRY(contacts_reserve(&o->list, count));
    return answers_reserve(&o->answers, count, o->dim);
}

// ---- finding -----------------------------------------------------------------------------------

/// Can there be contacts through areas?
static bool has_areas(const general_task* t)
{
    return t->solids || t->laws->kind.law == TALUS_SOFT_AREA;
}

/// Is a contact one through an area? In 2D all pairs of grains are, that are not left to the
/// kernels of balls.
static bool is_area(const general_task* t, const contacts* list, int64_t c)
{
    return list->a_row[c] >= 0 || t->laws->kind.law == TALUS_SOFT_AREA ||
           t->g->solid[list->b_row[c]] >= 0;
}

/// The bodies as detect/narrow.h wants them, without room for motion.
static narrow bodies_as_they_stand(const general_contacts* o, const general_task* t)
{
    return (narrow){.g = t->g,
                    .w = t->w,
                    .periodic = t->periodic,
                    .margin = o->margin,
                    .wall_margin = o->margin,
                    .range = t->laws->range,
                    .velocity = t->g->velocity,
                    .spin = t->g->spin,
                    .last = &o->list,
                    .threads = t->threads,
                    .direct = t->threads == 1 && !has_areas(t),
                    .far = o->far_known ? o->far : NULL};
}

talus_status general_contacts_note_far(general_contacts* o, const general_task* t, double room)
{
    TRY(reserve_bodies(o, t));
    const narrow bodies = bodies_as_they_stand(o, t);
    narrow_far(&bodies, room, o->far);
    o->far_known = true;
    o->noted++;
    return TALUS_OK;
}

static talus_status find(general_contacts* o, const general_task* t)
{
    const grains* g = t->g;
    const area_search search = {&o->shapes, g, t->w, t->periodic, t->threads};
    const wall_visitor visitor = area_wall_visitor(&search, t->laws->kind.law == TALUS_SOFT_AREA);
    narrow bodies = bodies_as_they_stand(o, t);
    bodies.visitor = has_areas(t) ? &visitor : NULL;
    o->found.count = 0;
    if (!has_areas(t)) return narrow_walls(&bodies, o->escaped, &o->found);
    TRY(area_shapes_place(&o->shapes, g, t->w, t->threads));
    TRY(narrow_walls(&bodies, o->escaped, &o->found));
    return area_pair_contacts(&search, t->pairs, &o->found);
}

// ---- history -----------------------------------------------------------------------------------

/// Of the rows [first, end) of the last list, which nobody has claimed and whose normals are like
/// that of row i, the nearest one; -1 if there is none.
static int64_t most_alike(const general_contacts* o, const general_task* t, int64_t i,
                          int64_t first, int64_t end, const uint8_t* claimed)
{
    const int dim = o->dim;
    const int image = feature_image(o->found.feature[i]);
    double nearest = INFINITY;
    int64_t found = -1;
    for (int64_t j = first; j < end; j++) {
        if (claimed[j] || feature_image(o->list.feature[j]) != image) continue;
        const double alike = vec_dot(dim, o->found.normal + i * dim, o->list.normal + j * dim);
        if (!(alike > SAME_NORMAL)) continue;
        double apart[3];
        vec_sub(dim, apart, o->found.point + i * dim, o->list.point + j * dim);
        cell_nearest(t->periodic, dim, apart);
        const double distance = vec_norm(dim, apart);
        if (distance < nearest) nearest = distance, found = j;
    }
    return found;
}

/// The rows of one pair of bodies: by name, then those left by their normals.
static void match_bodies(general_contacts* o, const general_task* t, int64_t first, int64_t end,
                         int64_t last_first, int64_t last_end, uint8_t* claimed)
{
    for (int64_t i = first; i < end; i++) {
        o->from[i] = -1;
        for (int64_t j = last_first; j < last_end; j++) {
            if (o->list.feature[j] != o->found.feature[i]) continue;
            o->from[i] = j;
            claimed[j] = 1;
        }
    }
    for (int64_t i = first; i < end; i++) {
        if (o->from[i] >= 0) continue;
        o->from[i] = most_alike(o, t, i, last_first, last_end, claimed);
        if (o->from[i] >= 0) claimed[o->from[i]] = 1;
    }
}

/// Row of constants of a contact of `list`.
static int32_t law_row(const general_task* t, const contacts* list, int64_t c)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    const int of_a = a < 0 ? t->w->record[-1 - a].material : t->g->material[a];
    return t->laws->law_of[of_a * t->laws->materials + t->g->material[b]];
}

static double grain_curvature(const general_task* t, int64_t row)
{
    return 2.0 / grain_diameter(t->g, row);
}

/// Energy that is lost with a contact that is no more: of springs, of the bond, and what is left of
/// the work that an area has stored. From the columns alone, so that a resumed run says the same.
static double energy_left(const general_task* t, const contacts* list, int64_t c)
{
    const int width = spin_width(list->dim);
    const bool area = is_area(t, list, c);
    const double* constants = (area ? t->laws->area_constants : t->laws->constants) +
                              SOFT_CONSTANTS * (int64_t)law_row(t, list, c);
    const double overlap = -list->gap[c];
    double curvature = grain_curvature(t, list->b_row[c]), k = constants[SOFT_TANGENTIAL];
    if (list->a_row[c] >= 0) curvature += grain_curvature(t, list->a_row[c]);
    if (!area && t->laws->kind.law == TALUS_SOFT_HERTZ) k *= sqrt(fmax(overlap, 0.0) / curvature);
    double sum = 0.0;
    for (int i = 0; i < width; i++) {
        const double slip = list->slip ? list->slip[c * width + i] : 0.0;
        const double roll = list->roll ? list->roll[c * width + i] / curvature : 0.0;
        sum += 0.5 * k * (slip * slip + roll * roll);
    }
    const double reach = constants[SOFT_RANGE] + (area ? 0.0 : overlap);
    if (list->bonded[c]) sum -= constants[SOFT_COHESION] * reach;
    return area && list->stored ? sum + list->stored[c] : sum;
}

/// Fill `from`; what nobody goes on from has ended.
static talus_status match(general_contacts* o, const general_task* t)
{
    uint8_t* claimed = calloc((size_t)o->list.count + 1, 1);
    if (!claimed) return TALUS_ERR_MEMORY;
    const contacts* now = &o->found;
    contacts_cursor cursor = {.list = &o->list};
    for (int64_t i = 0; i < now->count;) {
        int64_t end = i, first;
        while (end < now->count && now->a[end] == now->a[i] && now->b[end] == now->b[i]) end++;
        const int64_t count = contacts_seek(&cursor, now->a[i], now->b[i], &first);
        match_bodies(o, t, i, end, first, first + count, claimed);
        i = end;
    }
    o->lost = 0.0;
    for (int64_t j = 0; j < o->list.count; j++) {
        if (!claimed[j]) o->lost += energy_left(t, &o->list, j);
    }
    free(claimed);
    return TALUS_OK;
}

// ---- meeting -----------------------------------------------------------------------------------

/// How a body moves at a contact.
typedef struct mover {
    double velocity[3], spin[3], moved[3], turned[3]; ///< axial ones: all three numbers
    double arm[3];                                    ///< from its centre to the point
    double inv_mass;
} mover;

static ALWAYS_INLINE void spread(const int dim, const double* from, double to[3])
{
    for (int k = 0; k < 3; k++) to[k] = k < dim ? from[k] : 0.0;
}

static ALWAYS_INLINE void spread_axial(const int dim, const double* from, double to[3])
{
    for (int k = 0; k < 3; k++) to[k] = dim == 3 ? from[k] : k == 2 ? from[0] : 0.0;
}

static ALWAYS_INLINE void take_arm(const int dim, const general_task* t, const double* point,
                                   const double* centre, mover* m)
{
    spread(dim, point, m->arm);
    for (int k = 0; k < dim; k++) m->arm[k] -= centre[k];
    cell_nearest(t->periodic, dim, m->arm);
}

static ALWAYS_INLINE void grain_mover(const int dim, const general_task* t, int64_t row,
                                      const double* point, mover* m)
{
    const grains* g = t->g;
    m->inv_mass = g->inv_mass[row];
    spread(dim, g->velocity + row * dim, m->velocity);
    spread_axial(dim, g->spin + row * spin_width(dim), m->spin);
    take_arm(dim, t, point, g->position + row * dim, m);
    if (!t->geometric) return;
    spread(dim, g->moved + row * dim, m->moved);
    spread_axial(dim, g->turned + row * spin_width(dim), m->turned);
}

static ALWAYS_INLINE void wall_mover(const int dim, const general_task* t, int wall,
                                     const double* point, mover* m)
{
    const walls* w = t->w;
    const bool mobile = wall_is_mobile(w, wall);
    m->inv_mass = mobile ? 1.0 / w->record[wall].drive.mass : 0.0;
    vec_copy(3, m->velocity, w->velocity + 3 * wall);
    vec_copy(3, m->spin, w->spin + 3 * wall);
    take_arm(dim, t, point, w->position + 3 * wall, m);
    if (!t->geometric) return;
    vec_copy(3, m->moved, w->moved + 3 * wall);
    vec_copy(3, m->turned, w->turned + 3 * wall);
}

/// Velocity of a body's point.
static ALWAYS_INLINE void point_velocity(const mover* m, double v[3])
{
    vec_cross(v, m->spin, m->arm);
    vec_add_scaled(3, v, 1.0, m->velocity);
}

/// Motion since the last evaluation, and the normal then; `v` has the velocities of both points.
static ALWAYS_INLINE void fill_motion(const int dim, const general_contacts* o,
                                      const general_task* t, const mover body[2],
                                      const double v[2][3], int64_t c, soft_meetings* m, int lane)
{
    const int64_t from = o->from[c];
    const double* n = o->found.normal + c * dim;
    const double* last = t->geometric && from >= 0 ? o->list.normal + from * dim : n;
    double u[2][3], turn[2][3];
    if (t->geometric) {
        double travel[3] = {0.0, 0.0, 0.0};
        if (from >= 0) {
            vec_sub(dim, travel, o->found.point + c * dim, o->list.point + from * dim);
            cell_nearest(t->periodic, dim, travel);
        }
        // The contact point has moved by `travel`: the arm is the mean of now and then.
        for (int s = 0; s < 2; s++) {
            double arm[3];
            for (int k = 0; k < 3; k++) {
                arm[k] = body[s].arm[k] - 0.5 * (travel[k] - body[s].moved[k]);
            }
            vec_cross(u[s], body[s].turned, arm);
            vec_add_scaled(3, u[s], 1.0, body[s].moved);
            vec_copy(3, turn[s], body[s].turned);
        }
    } else {
        for (int s = 0; s < 2; s++) {
            for (int k = 0; k < 3; k++) {
                u[s][k] = v[s][k] * t->h;
                turn[s][k] = body[s].spin[k] * t->h;
            }
        }
    }
    for (int k = 0; k < dim; k++) {
        m->last_normal[k][lane] = last[k];
        m->moved[k][lane] = u[1][k] - u[0][k];
    }
    for (int k = 0; k < spin_width(dim); k++) {
        const int axis = dim == 2 ? 2 : k;
        m->turned[k][lane] = turn[1][axis] - turn[0][axis];
    }
    if (dim == 3) m->twist[lane] = 0.5 * (vec_dot(3, turn[0], n) + vec_dot(3, turn[1], n));
}

static ALWAYS_INLINE void fill_lane(const int dim, general_contacts* o, const general_task* t,
                                    int64_t c, soft_meetings* m, int lane)
{
    const contacts *now = &o->found, *last = &o->list;
    const int width = spin_width(dim);
    const int32_t a = now->a_row[c], b = now->b_row[c];
    const int64_t from = o->from[c];
    const double* point = now->point + c * dim;
    mover body[2];
    double v[2][3];
    if (a < 0) {
        wall_mover(dim, t, -1 - a, point, &body[0]);
    } else {
        grain_mover(dim, t, a, point, &body[0]);
    }
    grain_mover(dim, t, b, point, &body[1]);
    for (int s = 0; s < 2; s++) point_velocity(&body[s], v[s]);
    vec_copy(dim, o->fresh.arm_a + c * dim, body[0].arm);
    vec_copy(dim, o->fresh.arm_b + c * dim, body[1].arm);
    m->overlap[lane] = -now->gap[c];
    for (int k = 0; k < dim; k++) {
        m->normal[k][lane] = now->normal[c * dim + k];
        m->velocity[k][lane] = v[1][k] - v[0][k];
    }
    m->inv_mass[lane] = body[0].inv_mass + body[1].inv_mass;
    m->law[lane] = law_row(t, now, c);
    fill_motion(dim, o, t, body, v, c, m, lane);
    for (int k = 0; k < width; k++) {
        m->slip[k][lane] = from >= 0 && last->slip ? last->slip[from * width + k] : 0.0;
    }
    m->touched[lane] = from >= 0;
    m->bonded[lane] = from >= 0 ? last->bonded[from] : 0;
    m->curvature[lane] = 0.0;
    if (t->laws->kind.compound || t->laws->kind.law == TALUS_SOFT_HERTZ) { // who else asks for it?
        m->curvature[lane] = (a < 0 ? 0.0 : grain_curvature(t, a)) + grain_curvature(t, b);
    }
    if (!t->laws->kind.compound) return;
    for (int k = 0; k < width; k++) {
        const int axis = dim == 2 ? 2 : k;
        m->spin[k][lane] = body[1].spin[axis] - body[0].spin[axis];
        m->roll[k][lane] = from >= 0 && last->roll ? last->roll[from * width + k] : 0.0;
    }
    m->slid[lane] = from >= 0 && last->state[from] == TALUS_CONTACT_SLIDE;
}

/// The work that an area stores in place of the energy that a spring has, and the pull of a bond
/// with it. Two evaluations at the same time count once.
static ALWAYS_INLINE void store_work(const int dim, general_contacts* o, const general_task* t,
                                     int64_t c, const soft_meetings* m, int lane)
{
    contacts* now = &o->found;
    const int64_t from = o->from[c];
    const double* constants = t->laws->area_constants + SOFT_CONSTANTS * (int64_t)m->law[lane];
    const double overlap = m->overlap[lane], k = constants[SOFT_STIFFNESS];
    const double pull = m->bonded[lane] ? constants[SOFT_COHESION] : 0.0;
    double speed = 0.0;
    for (int i = 0; i < dim; i++) speed += m->normal[i][lane] * m->velocity[i][lane];
    const double power = -(k * overlap - pull) * speed;
    double stored = t->h > 0.0 ? 0.0 : k * now->stored[c];
    if (from >= 0) stored = o->list.stored ? o->list.stored[from] : 0.0;
    if (t->h > 0.0 || from < 0) stored += 0.5 * (t->h + t->step) * power;
    now->stored[c] = stored;
    o->fresh.elastic[c] += stored - 0.5 * t->step * power - (0.5 * k * overlap - pull) * overlap;
}

static ALWAYS_INLINE void take_answers(const int dim, general_contacts* o, const general_task* t,
                                       int64_t c, const soft_meetings* m, int lane)
{
    contacts* now = &o->found;
    const int width = spin_width(dim);
    const bool rich = t->laws->kind.compound; // else kernels leave these as they are: unknown
    for (int k = 0; k < dim; k++) now->force[c * dim + k] = m->force[k][lane];
    for (int k = 0; k < width; k++) {
        now->slip[c * width + k] = m->slip[k][lane];
        if (now->roll) now->roll[c * width + k] = rich ? m->roll[k][lane] : 0.0;
        if (now->torque) now->torque[c * width + k] = rich ? m->torque[k][lane] : 0.0;
    }
    now->bonded[c] = m->bonded[lane];
    now->state[c] = m->state[lane];
    o->fresh.elastic[c] = m->elastic[lane];
    o->fresh.loss[c] = m->loss[lane];
    o->fresh.power[c] = m->power[lane];
    if (is_area(t, now, c)) {
        store_work(dim, o, t, c, m, lane);
    } else if (now->stored) {
        now->stored[c] = 0.0;
    }
}

static ALWAYS_INLINE void meet_batch(const int dim, general_contacts* o, const general_task* t,
                                     int64_t batch)
{
    soft_meetings m;
    const int64_t first = SOFT_LANES * batch;
    const int64_t left = o->found.count - first;
    const int count = left < SOFT_LANES ? (int)left : SOFT_LANES;
    if (count < SOFT_LANES) m = (soft_meetings){0};
    for (int lane = 0; lane < count; lane++) fill_lane(dim, o, t, first + lane, &m, lane);
    for (int lane = count; lane < SOFT_LANES; lane++) { // apart, and nothing is divided by zero
        m.overlap[lane] = -1.0;
        m.normal[0][lane] = m.last_normal[0][lane] = 1.0;
        m.inv_mass[lane] = m.curvature[lane] = 1.0;
    }
    if (t->laws->kind.law == TALUS_SOFT_HERTZ && t->solids) { // balls with Hertz, areas without
        soft_meetings areas = m;
        const soft_kind kind = {t->laws->kind.dim, TALUS_SOFT_AREA, t->laws->kind.total,
                                t->laws->kind.compound};
        t->kernels->meet(&kind, t->laws->area_constants, t->h, &areas);
        t->kernels->meet(&t->laws->kind, t->laws->constants, t->h, &m);
        for (int lane = 0; lane < count; lane++) {
            const bool area = is_area(t, &o->found, first + lane);
            take_answers(dim, o, t, first + lane, area ? &areas : &m, lane);
        }
        return;
    }
    t->kernels->meet(&t->laws->kind, t->laws->constants, t->h, &m);
    for (int lane = 0; lane < count; lane++) take_answers(dim, o, t, first + lane, &m, lane);
}

static void meet_contacts(general_contacts* o, const general_task* t, int64_t batch)
{
    if (o->dim == 2) {
        meet_batch(2, o, t, batch);
    } else {
        meet_batch(3, o, t, batch);
    }
}

/// Drop the contacts that neither touch nor hold a bond: those in the range of bonds only. Of those
/// that have just opened it is kept what their springs lost.
static void drop_open(general_contacts* o)
{
    contacts* c = &o->found;
    contact_answers* a = &o->fresh;
    const int dim = o->dim;
    int64_t kept = 0;
    for (int64_t i = 0; i < c->count; i++) {
        if (c->state[i] == TALUS_CONTACT_OPEN) {
            o->lost += a->loss[i];
            continue;
        }
        if (kept != i) {
            contacts_copy_row(c, kept, i);
            a->elastic[kept] = a->elastic[i];
            a->loss[kept] = a->loss[i];
            a->power[kept] = a->power[i];
            vec_copy(dim, a->arm_a + kept * dim, a->arm_a + i * dim);
            vec_copy(dim, a->arm_b + kept * dim, a->arm_b + i * dim);
        }
        kept++;
    }
    c->count = kept;
}

talus_status general_contacts_begin(general_contacts* o, const general_task* t)
{
    TRY(reserve_bodies(o, t));
    if (t->g->count > 0) memset(o->escaped, 0, (size_t)t->g->count);
    return TALUS_OK;
}

talus_status general_contacts_evaluate(general_contacts* o, const general_task* t)
{
    TRY(find(o, t));
    const int64_t count = o->found.count, batches = (count + SOFT_LANES - 1) / SOFT_LANES;
    if (!arrays_renew(&o->from_capacity, count, ARRAY(o->from))) return TALUS_ERR_MEMORY;
    TRY(answers_reserve(&o->fresh, count, o->dim));
    TRY(contacts_need_slips(&o->found));
    if (has_areas(t)) TRY(contacts_need_stored(&o->found));
    if (t->laws->kind.compound) {
        TRY(contacts_need_rolls(&o->found));
        TRY(contacts_need_torques(&o->found));
    }
    TRY(match(o, t));
    if (parallel_is_plain(t->threads, count)) {
        for (int64_t b = 0; b < batches; b++) meet_contacts(o, t, b);
    } else {
#pragma omp parallel for num_threads(parallel_threads(t->threads, count)) schedule(static)
        for (int64_t b = 0; b < batches; b++) meet_contacts(o, t, b);
    }
    drop_open(o);
    const contacts list = o->list;
    const contact_answers answers = o->answers;
    o->list = o->found;
    o->found = list;
    o->answers = o->fresh;
    o->fresh = answers;
    return TALUS_OK;
}

// ---- sums --------------------------------------------------------------------------------------

/// Add force and torque at an arm to a row of sums; 2D torques are about z.
static ALWAYS_INLINE void add_to_sum(const int dim, double* sum, double sign, const double* force,
                                     const double* arm, const double* torque)
{
    double f[3], l[3], t[3];
    spread(dim, force, f);
    spread(dim, arm, l);
    vec_cross(t, l, f);
    for (int k = 0; k < dim; k++) sum[k] += sign * f[k];
    for (int k = dim == 2 ? 2 : 0; k < 3; k++) sum[3 + k] += sign * t[k];
    for (int k = 0; k < spin_width(dim) && torque; k++)
        sum[(dim == 2 ? 5 : 3) + k] += sign * torque[k];
}

/// Sums may be anywhere: the memory is told so many contacts before.
enum { AHEAD = 8 };

static ALWAYS_INLINE const double* torque_of(const int dim, const general_contacts* o, int64_t c)
{
    return o->list.torque ? o->list.torque + c * spin_width(dim) : NULL;
}

/// Add what a contact does to its second body, a grain.
static ALWAYS_INLINE void add_to_b(const int dim, const general_contacts* o, const general_task* t,
                                   const soft_pairs* pairs, int64_t c)
{
    double* on_b = soft_pairs_sum(pairs, t->places->place_of[o->list.b_row[c]]);
    add_to_sum(dim, on_b, 1.0, o->list.force + c * dim, o->answers.arm_b + c * dim,
               torque_of(dim, o, c));
    on_b[6] += o->answers.loss[c];
    on_b[7] += o->answers.power[c];
}

/// Add what a contact does to the wall that is its first body.
static ALWAYS_INLINE void add_to_wall(const int dim, const general_contacts* o, int64_t c, walls* w)
{
    const int32_t wall = -1 - o->list.a_row[c];
    double load[6] = {0.0};
    add_to_sum(dim, load, -1.0, o->list.force + c * dim, o->answers.arm_a + c * dim,
               torque_of(dim, o, c));
    vec_add_scaled(3, w->force + 3 * wall, 1.0, load);
    vec_add_scaled(3, w->torque + 3 * wall, 1.0, load + 3);
}

static ALWAYS_INLINE void add_all(const int dim, const general_contacts* o, const general_task* t,
                                  const soft_pairs* pairs, walls* w)
{
    const contacts* list = &o->list;
    for (int64_t c = 0; c < list->count; c++) {
        const int32_t a = list->a_row[c];
        const int32_t ahead = list->b_row[c + AHEAD < list->count ? c + AHEAD : c];
        __builtin_prefetch(soft_pairs_sum(pairs, t->places->place_of[ahead]));
        add_to_b(dim, o, t, pairs, c);
        if (a < 0) {
            add_to_wall(dim, o, c, w);
            continue;
        }
        double* on_a = soft_pairs_sum(pairs, t->places->place_of[a]);
        add_to_sum(dim, on_a, -1.0, list->force + c * dim, o->answers.arm_a + c * dim,
                   torque_of(dim, o, c));
    }
}

void general_contacts_add(const general_contacts* o, const general_task* t, const soft_pairs* pairs,
                          walls* w)
{
    if (o->dim == 2) {
        add_all(2, o, t, pairs, w);
    } else {
        add_all(3, o, t, pairs, w);
    }
}

// ---- block by block ----------------------------------------------------------------------------

static int64_t block_of(const general_task* t, int64_t row)
{
    return t->places->place_of[row] / SOFT_BLOCK;
}

talus_status general_contacts_note_blocks(general_contacts* o, const general_task* t)
{
    const int64_t count = t->g->count, blocks = (count + SOFT_BLOCK - 1) / SOFT_BLOCK;
    if (!arrays_renew(&o->block_capacity, blocks, ARRAY(o->first_of), ARRAY(o->near))) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t b = 0; b < blocks; b++) o->near[b] = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!o->far[i]) o->near[block_of(t, i)] = 1;
    }
    return TALUS_OK;
}

talus_status general_contacts_deal(general_contacts* o, const general_task* t, walls* w)
{
    const int64_t count = o->list.count, blocks = (t->g->count + SOFT_BLOCK - 1) / SOFT_BLOCK;
    if (!arrays_renew(&o->next_capacity, count, ARRAY(o->next_of))) return TALUS_ERR_MEMORY;
    for (int64_t b = 0; b < blocks; b++) o->first_of[b] = -1;
    for (int64_t c = count - 1; c >= 0; c--) {
        int64_t* first = &o->first_of[block_of(t, o->list.b_row[c])];
        o->next_of[c] = *first;
        *first = c;
    }
    for (int64_t c = 0; c < count; c++) add_to_wall(o->dim, o, c, w);
    return TALUS_OK;
}

void general_contacts_push(const general_contacts* o, int64_t c, double push[WALL_PUSH])
{
    const double* torque = torque_of(o->dim, o, c);
    for (int k = 0; k < WALL_PUSH; k++) push[k] = 0.0;
    add_to_sum(o->dim, push, 1.0, o->list.force + c * o->dim, o->answers.arm_b + c * o->dim, NULL);
    push[6] = o->answers.loss[c];
    push[7] = o->answers.power[c];
    if (torque) vec_copy(3, push + SOFT_SUM, torque);
}

void general_contacts_add_block(const general_contacts* o, const general_task* t,
                                const soft_pairs* pairs, int64_t block)
{
    for (int64_t c = o->first_of[block]; c >= 0; c = o->next_of[c])
        add_to_b(o->dim, o, t, pairs, c);
}
