/// Spheres that move by an integrator with one rate (soft/one_rate.h), in the order of work, for
/// the vector width that the including file is compiled with. While many steps are taken the
/// motion of a sphere is in its row and its own numbers (soft/bodies.h): from the table it is
/// lifted to the first prediction; then each step carries it from one prediction, by the forces
/// found there, to the next; and the last step lands in the table. So a step reads and writes a
/// sphere's numbers once, one after the other, and a row stays what the forces were found at when
/// nothing comes after it.
///
/// Eight spheres at consecutive places are worked on at once, parts of eight where lanes are fewer.
/// If the last eight are not full their last one stands for those of its part that are not there:
/// they are read and written together, with one result.
#ifndef TALUS_SOFT_SPHERE_KERNEL_H
#define TALUS_SOFT_SPHERE_KERNEL_H

#include "base/lanes.h"
#include "soft/motion_kernel.h"

/// Spheres in registers.
typedef struct sphere_lanes {
    lanes x[3], radius;
    lanes v[3], inv_mass; ///< 0 if it is not free
    lanes spin[3], inv_inertia;
    lanes a[3], mass, alpha[3];
    lanes q[4];
    lanes turn[3];             ///< in the step
    lanes moved[3], turned[3]; ///< since the last evaluation
} sphere_lanes;

/// What is compiled by itself.
typedef struct sphere_kind {
    bool verlet; ///< or leapfrog
    bool moving; ///< the motion since the last evaluation is kept
} sphere_kind;

/// Eight places, or a part of them.
typedef struct sphere_places {
    int64_t first;          ///< of the eight, a multiple of eight
    int part;               ///< first lane of the part
    int32_t at[LANE_WIDTH]; ///< places of the part
    unsigned there;         ///< bits of the lanes of the part that are not there twice
} sphere_places;

static ALWAYS_INLINE sphere_places places_from(int64_t first, int64_t last, int part)
{
    sphere_places out = {.first = first, .part = part};
    for (int k = 0; k < LANE_WIDTH; k++) {
        const int64_t place = first + part + k;
        out.at[k] = (int32_t)(place < last ? place : last - 1);
        if (place < last) out.there |= 1u << k;
    }
    return out;
}

// ---- where they are ----------------------------------------------------------------------------

/// A field of the own numbers of the spheres from `place` on, a multiple of eight, and the part.
static ALWAYS_INLINE double* own_field(const sphere_kind kind, const sphere_task* t, int64_t place,
                                       int part, int field)
{
    return t->bodies->own + place * soft_own(!kind.verlet) + field * SOFT_LANES + part;
}

/// Visit the own numbers in the order in which they lie.
#define EACH_OWN(kind, s, DO)                                                                      \
    do {                                                                                           \
        for (int k = 0; k < 3; k++) DO(OWN_ACCELERATION + k, (s)->a[k]);                           \
        for (int k = 0; k < 3; k++) DO(OWN_ANGULAR + k, (s)->alpha[k]);                            \
        for (int k = 0; k < 4; k++) DO(OWN_ROTATION + k, (s)->q[k]);                               \
        DO(OWN_MASS, (s)->mass);                                                                   \
        for (int k = 0; k < 3 && !(kind).verlet; k++) DO(OWN_TURN + k, (s)->turn[k]);              \
    } while (0)

static ALWAYS_INLINE void load_spheres(const sphere_kind kind, const sphere_task* t,
                                       const sphere_places* places, sphere_lanes* s)
{
    const int length = soft_row(3, kind.moving), motion = soft_row_motion(3);
    const int32_t* at = places->at;
    lanes x[4];
    lanes_load_rows(t->bodies->row, length, 0, at, x);
    s->x[0] = x[0], s->x[1] = x[1], s->x[2] = x[2], s->radius = x[3];
    lanes_load_rows(t->bodies->row, length, 4, at, x);
    s->v[0] = x[0], s->v[1] = x[1], s->v[2] = x[2], s->inv_mass = x[3];
    lanes_load_rows(t->bodies->row, length, 8, at, x);
    s->spin[0] = x[0], s->spin[1] = x[1], s->spin[2] = x[2], s->inv_inertia = x[3];
    if (kind.moving) {
        lanes_load_rows(t->bodies->row, length, motion, at, x);
        s->moved[0] = x[0], s->moved[1] = x[1], s->moved[2] = x[2];
        lanes_load_rows(t->bodies->row, length, motion + 4, at, x);
        s->turned[0] = x[0], s->turned[1] = x[1], s->turned[2] = x[2];
    }
#define LOAD(field, to) to = lanes_load(own_field(kind, t, places->first, places->part, field))
    EACH_OWN(kind, s, LOAD);
#undef LOAD
}

static ALWAYS_INLINE void store_spheres(const sphere_kind kind, const sphere_task* t,
                                        const sphere_places* places, const sphere_lanes* s)
{
    const int length = soft_row(3, kind.moving), motion = soft_row_motion(3);
    const int32_t* at = places->at;
    const lanes x[4] = {s->x[0], s->x[1], s->x[2], s->radius};
    const lanes v[4] = {s->v[0], s->v[1], s->v[2], s->inv_mass};
    const lanes spin[4] = {s->spin[0], s->spin[1], s->spin[2], s->inv_inertia};
    lanes_store_rows(t->bodies->row, length, 0, at, x);
    lanes_store_rows(t->bodies->row, length, 4, at, v);
    lanes_store_rows(t->bodies->row, length, 8, at, spin);
    if (kind.moving) {
        const lanes zero = lanes_set(0.0);
        const lanes moved[4] = {s->moved[0], s->moved[1], s->moved[2], zero};
        const lanes turned[4] = {s->turned[0], s->turned[1], s->turned[2], zero};
        lanes_store_rows(t->bodies->row, length, motion, at, moved);
        lanes_store_rows(t->bodies->row, length, motion + 4, at, turned);
    }
#define STORE(field, from) lanes_store(own_field(kind, t, places->first, places->part, field), from)
    EACH_OWN(kind, s, STORE);
#undef STORE
}

#undef EACH_OWN

/// So many numbers of a column of the table, one for each lane.
static ALWAYS_INLINE void load_column(const sphere_task* t, const sphere_places* places,
                                      const double* from, const int width, lanes* out)
{
    double field[4][SOFT_LANES] __attribute__((aligned(64))) = {{0.0}};
    for (int lane = 0; lane < LANE_WIDTH; lane++) {
        const int64_t row = t->places->row_of[places->at[lane]];
        for (int k = 0; k < width; k++) field[k][lane] = from[row * width + k];
    }
    for (int k = 0; k < width; k++) out[k] = lanes_load(field[k]);
}

static ALWAYS_INLINE void store_column(const sphere_task* t, const sphere_places* places,
                                       double* to, const int width, const lanes* in)
{
    double field[4][SOFT_LANES] __attribute__((aligned(64))) = {{0.0}};
    for (int k = 0; k < width; k++) lanes_store(field[k], in[k]);
    for (int lane = 0; lane < LANE_WIDTH; lane++) {
        const int64_t row = t->places->row_of[places->at[lane]];
        for (int k = 0; k < width; k++) to[row * width + k] = field[k][lane];
    }
}

static ALWAYS_INLINE void load_table(const sphere_kind kind, const sphere_task* t,
                                     const sphere_places* places, sphere_lanes* s)
{
    const grains* g = t->g;
    double turns[SOFT_LANES] __attribute__((aligned(64))) = {0.0};
    for (int lane = 0; lane < LANE_WIDTH; lane++) {
        turns[lane] = turns_by(g, t->places->row_of[places->at[lane]]);
    }
    s->inv_inertia = lanes_load(turns);
    load_column(t, places, g->position, 3, s->x);
    load_column(t, places, g->radius, 1, &s->radius);
    load_column(t, places, g->velocity, 3, s->v);
    load_column(t, places, g->inv_mass, 1, &s->inv_mass);
    load_column(t, places, g->spin, 3, s->spin);
    load_column(t, places, g->rate2, 3, s->a);
    load_column(t, places, g->mass, 1, &s->mass);
    load_column(t, places, g->turn2, 3, s->alpha);
    load_column(t, places, g->rotation, 4, s->q);
    if (!kind.moving) return;
    load_column(t, places, g->moved, 3, s->moved);
    load_column(t, places, g->turned, 3, s->turned);
}

static ALWAYS_INLINE void store_table(const sphere_kind kind, const sphere_task* t,
                                      const sphere_places* places, const sphere_lanes* s)
{
    grains* g = t->g;
    store_column(t, places, g->position, 3, s->x);
    store_column(t, places, g->velocity, 3, s->v);
    store_column(t, places, g->spin, 3, s->spin);
    store_column(t, places, g->rate2, 3, s->a);
    store_column(t, places, g->turn2, 3, s->alpha);
    store_column(t, places, g->rotation, 4, s->q);
    if (!kind.moving) return;
    store_column(t, places, g->moved, 3, s->moved);
    store_column(t, places, g->turned, 3, s->turned);
}

// ---- a step ------------------------------------------------------------------------------------

/// Turn quaternions by small vectors, as turn_by() does.
static ALWAYS_INLINE void turn_lanes(lanes q[4], const lanes turn[3])
{
    const lanes half = lanes_set(0.5);
    const lanes a = half * turn[0], b = half * turn[1], c = half * turn[2];
    const lanes w = q[0], x = q[1], y = q[2], z = q[3];
    q[0] = w + (-a) * x + (-b) * y - c * z;
    q[1] = x + a * w + b * z - c * y;
    q[2] = y + b * w + c * x - a * z;
    q[3] = z + c * w + a * y - b * x;
    const lanes square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    const lanes scale = lanes_set(1.5) - half * square;
    for (int k = 0; k < 4; k++) q[k] = scale * q[k];
}

/// From the beginning of a step to the evaluation in it.
static ALWAYS_INLINE void predict_spheres(const sphere_kind kind, const sphere_task* t,
                                          sphere_lanes* s)
{
    const lanes h = lanes_set(t->h), half = lanes_set(0.5 * t->h);
    for (int k = 0; k < 3; k++) {
        const lanes from = s->x[k];
        s->turn[k] = lanes_set(0.0);
        if (kind.verlet) {
            VERLET_PREDICT(s->x[k], s->v[k], s->a[k], h, half);
            VERLET_PREDICT(s->turn[k], s->spin[k], s->alpha[k], h, half);
        } else {
            LEAPFROG_PREDICT(s->x[k], s->v[k], s->a[k], half);
            LEAPFROG_PREDICT(s->turn[k], s->spin[k], s->alpha[k], half);
        }
        if (!kind.moving) continue;
        s->moved[k] = (s->moved[k] - from) + s->x[k];
        s->turned[k] = s->turned[k] + s->turn[k];
    }
    if (kind.verlet) turn_lanes(s->q, s->turn); // the turn in the step is over; leapfrog's is not
}

/// What flows in the evaluations of some spheres, lane by lane.
typedef struct sphere_flow {
    lanes lost, dashpots, power, squares, held;
} sphere_flow;

/// From the evaluation to the end of the step, by the forces found there, whose sums are those of
/// the places from `first` on.
static ALWAYS_INLINE void correct_spheres(const sphere_kind kind, const sphere_task* t,
                                          const sphere_places* places, const double* sums,
                                          int64_t first, sphere_lanes* s, sphere_flow* flow)
{
    const lanes zero = lanes_set(0.0), drag = lanes_set(t->drag);
    const lanes h = lanes_set(t->h), half = lanes_set(0.5 * t->h), middle = lanes_set(0.5);
    int32_t at[SOFT_LANES];
    for (int k = 0; k < LANE_WIDTH; k++) at[k] = places->at[k] - (int32_t)first;
    const lane_mask there = mask_of_bits(places->there), free = lanes_more(s->inv_mass, zero);
    lanes sum[8], held = zero, power = zero, squares = zero;
    lanes_load_rows(sums, SOFT_SUM, 0, at, sum);
    lanes_load_rows(sums, SOFT_SUM, 4, at, sum + 4);
    for (int k = 0; k < 3; k++) held = held - sum[k] * s->v[k];
    for (int k = 0; k < 3; k++) held = held - sum[3 + k] * s->spin[k];
    for (int k = 0; k < 3; k++) {
        const lanes force = s->mass * lanes_set(t->gravity[k]);
        power = power + force * s->v[k];
        squares = squares + s->v[k] * s->v[k];
        const lanes pushed = s->inv_mass * (sum[k] + (force - drag * s->v[k]));
        const lanes found = lanes_pick(free, pushed, zero);
        const lanes turning = lanes_pick(free, s->inv_inertia * (sum[3 + k] + zero), zero);
        if (kind.verlet) {
            VERLET_CORRECT(s->v[k], s->a[k], found, half);
            VERLET_CORRECT(s->spin[k], s->alpha[k], turning, half);
            s->moved[k] = s->turned[k] = zero;
            continue;
        }
        const lanes x = s->x[k], turn = s->turn[k];
        LEAPFROG_CORRECT(s->x[k], s->v[k], s->a[k], found, h, half, middle);
        LEAPFROG_CORRECT(s->turn[k], s->spin[k], s->alpha[k], turning, h, half, middle);
        s->moved[k] = (zero - x) + s->x[k];
        s->turned[k] = (zero - turn) + s->turn[k];
    }
    if (!kind.verlet) turn_lanes(s->q, s->turn);
    const lane_mask moves = mask_and(there, free);
    flow->lost = flow->lost + lanes_pick(there, sum[6], zero);
    flow->dashpots = flow->dashpots + lanes_pick(there, sum[7], zero);
    flow->power = flow->power + lanes_pick(moves, power, zero);
    flow->squares = flow->squares + lanes_pick(moves, squares, zero);
    flow->held = flow->held + lanes_pick(mask_but(there, free), held, zero);
}

/// Spheres that have left the cell come in again on the other side.
static ALWAYS_INLINE void wrap_spheres(const sphere_task* t, const sphere_places* places,
                                       sphere_lanes* s)
{
    const cell* c = t->periodic;
    unsigned out = 0;
    for (int k = 0; k < 3; k++) {
        if (!c->periodic[k]) continue;
        const lane_mask below = lanes_more(lanes_set(c->low[k]), s->x[k]);
        out |= mask_bits(below);
        out |= ~mask_bits(lanes_more(lanes_set(c->low[k] + c->length[k]), s->x[k]));
    }
    out &= (1u << LANE_WIDTH) - 1;
    if (out == 0) return;
    double x[3][SOFT_LANES] __attribute__((aligned(64)));
    for (int k = 0; k < 3; k++) lanes_store(x[k], s->x[k]);
    for (int lane = 0; lane < LANE_WIDTH; lane++) {
        if (!(out >> lane & 1)) continue;
        const int64_t row = t->places->row_of[places->at[lane]];
        double place[3] = {x[0][lane], x[1][lane], x[2][lane]};
        int32_t again[3] = {0, 0, 0}; // of one that stands for others
        cell_wrap(c, 3, place, places->there >> lane & 1 ? t->g->image + 3 * row : again);
        for (int k = 0; k < 3; k++) x[k][lane] = place[k];
    }
    for (int k = 0; k < 3; k++) s->x[k] = lanes_load(x[k]);
}

/// Put the larger of it and the squared distance from the place in the list into `far2`. Whoever
/// seems to have gone farther than half a period has come round.
static ALWAYS_INLINE void go_farther(const sphere_task* t, const sphere_places* places,
                                     const sphere_lanes* s, double half, lanes* far2)
{
    const cell* c = t->periodic;
    const double* listed = t->bodies->listed + 3 * places->first + places->part;
    lanes d[3], square = lanes_set(0.0);
    for (int k = 0; k < 3; k++) {
        d[k] = s->x[k] - lanes_load(listed + k * SOFT_LANES);
        square = square + d[k] * d[k];
    }
    if (mask_bits(lanes_more(square, lanes_set(half * half))) != 0) {
        double field[3][SOFT_LANES] __attribute__((aligned(64)));
        for (int k = 0; k < 3; k++) lanes_store(field[k], d[k]);
        for (int lane = 0; lane < LANE_WIDTH; lane++) {
            double one[3] = {field[0][lane], field[1][lane], field[2][lane]};
            cell_nearest(c, 3, one);
            field[0][lane] = vec_dot(3, one, one);
        }
        square = lanes_load(field[0]);
    }
    *far2 = lanes_larger(square, *far2);
}

// ---- some of them ------------------------------------------------------------------------------

enum { SPHERE_PARTS = SOFT_LANES / LANE_WIDTH };

static ALWAYS_INLINE double farthest_of(const lanes* far2)
{
    double all[SOFT_LANES] __attribute__((aligned(64))), most = 0.0;
    for (int k = 0; k < SPHERE_PARTS; k++) lanes_store(all + k * LANE_WIDTH, far2[k]);
    for (int k = 0; k < SOFT_LANES; k++) most = all[k] > most ? all[k] : most;
    return sqrt(most);
}

static ALWAYS_INLINE double lift_some(const sphere_kind kind, const sphere_task* t, int64_t first,
                                      int64_t last)
{
    const double round = half_round(t->periodic, 3);
    lanes far2[SPHERE_PARTS];
    for (int k = 0; k < SPHERE_PARTS; k++) far2[k] = lanes_set(0.0);
    for (int64_t p = first; p < last; p += SOFT_LANES) {
        for (int k = 0; k < SPHERE_PARTS; k++) {
            const sphere_places places = places_from(p, last, k * LANE_WIDTH);
            if (places.there == 0) continue;
            sphere_lanes s;
            load_table(kind, t, &places, &s);
            predict_spheres(kind, t, &s);
            store_spheres(kind, t, &places, &s);
            if (t->listed) go_farther(t, &places, &s, round, &far2[k]);
        }
    }
    return farthest_of(far2);
}

/// The numbers of all lanes, one after the other.
#define SUM_LANES(sums, field, out)                                                                \
    do {                                                                                           \
        double all[SOFT_LANES] __attribute__((aligned(64)));                                       \
        for (int k = 0; k < SPHERE_PARTS; k++) lanes_store(all + k * LANE_WIDTH, (sums)[k].field); \
        (out) = 0.0;                                                                               \
        for (int k = 0; k < SOFT_LANES; k++) (out) += all[k];                                      \
    } while (0)

/// Correct, and with `on` predict the next step.
static ALWAYS_INLINE double correct_some(const sphere_kind kind, const bool on,
                                         const sphere_task* t, const double* sum, int64_t first,
                                         int64_t last, double* flow)
{
    const double round = half_round(t->periodic, 3);
    const lanes zero = lanes_set(0.0);
    sphere_flow sums[SPHERE_PARTS];
    lanes far2[SPHERE_PARTS];
    for (int k = 0; k < SPHERE_PARTS; k++) {
        sums[k] = (sphere_flow){zero, zero, zero, zero, zero};
        far2[k] = zero;
    }
    for (int64_t p = first; p < last; p += SOFT_LANES) {
        for (int k = 0; k < SPHERE_PARTS; k++) {
            const sphere_places places = places_from(p, last, k * LANE_WIDTH);
            if (places.there == 0) continue;
            sphere_lanes s;
            load_spheres(kind, t, &places, &s);
            correct_spheres(kind, t, &places, sum, first, &s, &sums[k]);
            wrap_spheres(t, &places, &s);
            if (on) {
                predict_spheres(kind, t, &s);
                store_spheres(kind, t, &places, &s);
                go_farther(t, &places, &s, round, &far2[k]);
            } else {
                store_table(kind, t, &places, &s);
            }
        }
    }
    double squares, power, held;
    SUM_LANES(sums, lost, flow[FLOW_LOSS]);
    SUM_LANES(sums, dashpots, flow[FLOW_DASHPOTS]);
    SUM_LANES(sums, squares, squares);
    SUM_LANES(sums, power, power);
    SUM_LANES(sums, held, held);
    flow[FLOW_DRAG] = t->drag * squares;
    flow[FLOW_INPUT] = held + power;
    return farthest_of(far2);
}

#undef SUM_LANES

#define BY_KIND(t, function, ...)                                                                    \
    ((t)->verlet           ? (t)->bodies->moving ? function((sphere_kind){true, true}, __VA_ARGS__)  \
                                                 : function((sphere_kind){true, false}, __VA_ARGS__) \
               : (t)->bodies->moving ? function((sphere_kind){false, true}, __VA_ARGS__)             \
                           : function((sphere_kind){false, false}, __VA_ARGS__))

static double lift_spheres(const sphere_task* t, int64_t first, int64_t last)
{
    return BY_KIND(t, lift_some, t, first, last);
}

static double carry_spheres(const sphere_task* t, const double* sums, int64_t first, int64_t last,
                            double* flow)
{
    return BY_KIND(t, correct_some, true, t, sums, first, last, flow);
}

static void land_spheres(const sphere_task* t, const double* sums, int64_t first, int64_t last,
                         double* flow)
{
    (void)BY_KIND(t, correct_some, false, t, sums, first, last, flow);
}

#undef BY_KIND

#endif
