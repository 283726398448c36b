/// Dense disordered tiles of balls, periodic along every axis, for the benchmarks.
///
/// Balls at random places grow together like soft particles with friction (Cundall & Strack:
/// springs along and across the contact, the one across cut to mu times the force along) and a
/// drag, until they jam; then they come to rest at a mean overlap of TILE_OVERLAP. Independent of
/// Talus's own mechanics but for the search for pairs. Units: mean diameter, spring constant, mass.
#ifndef TALUS_BENCH_TILE_H
#define TALUS_BENCH_TILE_H

#include "bench.h"

#include "base/rng.h"
#include "base/vec.h"
#include "detect/grid.h"

#include <math.h>
#include <string.h>

static const double TILE_OVERLAP = 1e-3; // mean of the contacts, in diameters
static const double TILE_DT = 0.15, TILE_DAMPING = 0.5, TILE_DRAG = 0.002;
static const double TILE_SKIN = 0.05; // searched beyond the radius, in radii

/// Balls that fill a cube (2D: square).
typedef struct tile {
    int dim;
    int64_t count;
    double side;      ///< in mean diameters
    double* position; ///< [count][dim]
    double* radius;   ///< [count]
} tile;

static inline void tile_free(tile* t)
{
    free(t->position);
    free(t->radius);
}

static inline double ball_volume(int dim, double radius)
{
    return dim == 2 ? M_PI * radius * radius : 4.0 / 3.0 * M_PI * radius * radius * radius;
}

static inline double* tile_array(int64_t count)
{
    double* out = calloc((size_t)count, sizeof *out);
    bench_ok(!out, "memory");
    return out;
}

// ---- start -------------------------------------------------------------------------------------

/// A place for grain `i` where it overlaps none of those before it, by trial.
static inline void free_place(const tile* t, int64_t i, rng* r)
{
    const int dim = t->dim;
    double* x = t->position + i * dim;
    bool hit = true;
    while (hit) {
        hit = false;
        for (int k = 0; k < dim; k++) x[k] = t->side * rng_uniform(r);
        for (int64_t j = 0; j < i && !hit; j++) {
            const double apart = t->radius[i] + t->radius[j];
            double square = 0.0;
            for (int k = 0; k < dim; k++) {
                double d = x[k] - t->position[j * dim + k];
                d -= t->side * rint(d / t->side);
                square += d * d;
            }
            hit = square < apart * apart;
        }
    }
}

/// Grains at random that do not overlap, of diameters within 20 % of 1.
static inline tile random_tile(int dim, int64_t count)
{
    tile t = {.dim = dim, .count = count};
    rng r = rng_make(1, (uint64_t)dim, (uint64_t)count);
    t.position = tile_array(count * dim);
    t.radius = tile_array(count);
    double volume = 0.0;
    for (int64_t i = 0; i < count; i++) {
        t.radius[i] = 0.5 + 0.2 * (rng_uniform(&r) - 0.5);
        volume += ball_volume(dim, t.radius[i]);
    }
    t.side = pow(volume / (dim == 2 ? 0.4 : 0.25), 1.0 / dim);
    for (int64_t i = 0; i < count; i++) free_place(&t, i, &r);
    return t;
}

// ---- soft balls --------------------------------------------------------------------------------

/// The tile in motion.
typedef struct soft {
    tile* t;
    double friction;
    double *velocity, *spin; ///< [count][3]
    double *force, *torque;  ///< [count][3]
    double *reach, *ones,
        *searched;          ///< [count], [count], [count][dim] positions of the last search
    double searched_radius; ///< of ball 0, then
    grid* grid;
    pair_list pairs;
    double* spring;   ///< [pairs][3] across the contact
    int64_t touching; ///< contacts of the last step
    double overlap;   ///< their sum
} soft;

static inline soft soft_begin(tile* t, double friction)
{
    soft s = {.t = t, .friction = friction, .grid = grid_create()};
    s.velocity = tile_array(3 * t->count);
    s.spin = tile_array(3 * t->count);
    s.force = tile_array(3 * t->count);
    s.torque = tile_array(3 * t->count);
    s.reach = tile_array(t->count);
    s.ones = tile_array(t->count);
    s.searched = tile_array(t->dim * t->count);
    for (int64_t i = 0; i < t->count; i++) s.ones[i] = 1.0;
    return s;
}

static inline void soft_end(soft* s)
{
    double* arrays[] = {s->velocity, s->spin, s->force,    s->torque,
                        s->reach,    s->ones, s->searched, s->spring};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
    pair_list_free(&s->pairs);
    grid_destroy(s->grid);
}

/// Search anew and carry the springs over; both lists are sorted.
static inline void soft_search(soft* s)
{
    tile* t = s->t;
    pair_list old = s->pairs;
    double* old_spring = s->spring;
    cell cube = {0};
    for (int k = 0; k < t->dim; k++) {
        cube.periodic[k] = true;
        cube.length[k] = t->side;
    }
    for (int64_t i = 0; i < t->count; i++) {
        s->reach[i] = (1.0 + TILE_SKIN) * t->radius[i];
        for (int k = 0; k < t->dim; k++) {
            double* x = &t->position[i * t->dim + k];
            *x -= t->side * floor(*x / t->side);
            if (*x >= t->side) *x = 0.0;
            s->searched[i * t->dim + k] = *x;
        }
    }
    s->searched_radius = t->radius[0];
    ball_set balls = {t->dim, t->count, t->position, s->reach, s->ones};
    s->pairs = (pair_list){0};
    bench_ok(grid_pairs(s->grid, &balls, &cube, 1, &s->pairs), "memory");
    s->spring = tile_array(3 * s->pairs.count + 1);
    for (int64_t n = 0, o = 0; n < s->pairs.count && o < old.count;) {
        const int64_t new_key = s->pairs.a[n] * t->count + s->pairs.b[n];
        const int64_t old_key = old.a[o] * t->count + old.b[o];
        if (new_key == old_key) vec_copy(3, s->spring + 3 * n, old_spring + 3 * o);
        n += new_key <= old_key;
        o += old_key <= new_key;
    }
    pair_list_free(&old);
    free(old_spring);
}

/// Has something come nearer than the skin allows?
static inline bool soft_outdated(const soft* s)
{
    const tile* t = s->t;
    const double room = 0.5 * TILE_SKIN * t->radius[0] - (t->radius[0] - s->searched_radius);
    if (!(room > 0.0)) return true;
    for (int64_t i = 0; i < t->count; i++) {
        double moved[3];
        vec_sub(t->dim, moved, t->position + i * t->dim, s->searched + i * t->dim);
        if (vec_dot(t->dim, moved, moved) > room * room) return true;
    }
    return false;
}

/// Force on b across a contact: spring and dashpot, cut to Coulomb's bound.
static inline void soft_friction(double friction, double* spring, const double* n,
                                 const double* slip, double normal, double* across)
{
    double size = 0.0;
    const double along = vec_dot(3, spring, n);
    for (int k = 0; k < 3; k++) {
        spring[k] += TILE_DT * slip[k] - along * n[k];
        across[k] = -spring[k] - TILE_DAMPING * slip[k];
        size += across[k] * across[k];
    }
    const double bound = friction * normal;
    if (size <= bound * bound) return;
    const double cut = bound / sqrt(size);
    for (int k = 0; k < 3; k++) {
        across[k] *= cut;
        spring[k] = -across[k] - TILE_DAMPING * slip[k];
    }
}

static inline void soft_contact(soft* s, int64_t pair)
{
    const tile* t = s->t;
    const int64_t a = s->pairs.a[pair], b = s->pairs.b[pair];
    const double ra = t->radius[a], rb = t->radius[b];
    double n[3] = {0.0, 0.0, 0.0}, turn[3], slip[3], across[3], torque[3];
    double* spring = s->spring + 3 * pair;
    for (int k = 0; k < t->dim; k++) {
        n[k] = t->position[b * t->dim + k] - t->position[a * t->dim + k];
        n[k] -= t->side * rint(n[k] / t->side);
    }
    const double square = vec_dot(3, n, n), overlap = ra + rb - sqrt(square);
    if (!(overlap > 0.0)) {
        memset(spring, 0, 3 * sizeof *spring);
        return;
    }
    for (int k = 0; k < 3; k++) n[k] /= ra + rb - overlap;
    for (int k = 0; k < 3; k++) turn[k] = ra * s->spin[3 * a + k] + rb * s->spin[3 * b + k];
    vec_cross(slip, n, turn);
    for (int k = 0; k < 3; k++) slip[k] += s->velocity[3 * b + k] - s->velocity[3 * a + k];
    const double opening = vec_dot(3, slip, n);
    vec_add_scaled(3, slip, -opening, n);
    const double normal = fmax(0.0, overlap - TILE_DAMPING * opening);
    soft_friction(s->friction, spring, n, slip, normal, across);
    vec_cross(torque, n, across);
    for (int k = 0; k < 3; k++) {
        const double f = normal * n[k] + across[k];
        s->force[3 * a + k] -= f;
        s->force[3 * b + k] += f;
        s->torque[3 * a + k] -= ra * torque[k];
        s->torque[3 * b + k] -= rb * torque[k];
    }
    s->touching++;
    s->overlap += overlap;
}

/// One step with all radii larger by `growth`; the mean overlap per ball.
static inline double soft_step(soft* s, double growth)
{
    tile* t = s->t;
    const size_t bytes = sizeof(double) * (size_t)(3 * t->count);
    for (int64_t i = 0; i < t->count && growth > 0.0; i++) t->radius[i] *= 1.0 + growth;
    if (!s->spring || soft_outdated(s)) soft_search(s);
    memset(s->force, 0, bytes);
    memset(s->torque, 0, bytes);
    s->touching = 0;
    s->overlap = 0.0;
    for (int64_t c = 0; c < s->pairs.count; c++) soft_contact(s, c);
    for (int64_t i = 0; i < t->count; i++) {
        const double inertia = (t->dim == 2 ? 0.5 : 0.4) * t->radius[i] * t->radius[i];
        for (int64_t k = 3 * i; k < 3 * i + 3; k++) {
            s->velocity[k] += TILE_DT * (s->force[k] - TILE_DRAG * s->velocity[k]);
            s->spin[k] += TILE_DT * (s->torque[k] / inertia - TILE_DRAG * s->spin[k]);
        }
        vec_add_scaled(t->dim, t->position + i * t->dim, TILE_DT, s->velocity + 3 * i);
    }
    return s->overlap / (double)t->count;
}

/// Sum of the forces on a ball, mean over the balls, against the mean force of a contact.
static inline double soft_unrest(const soft* s)
{
    double sum = 0.0;
    for (int64_t i = 0; i < s->t->count; i++) sum += vec_norm(3, s->force + 3 * i);
    return sum / (double)s->t->count / (s->overlap / (double)s->touching);
}

/// Come to rest at this density or show that it is too low; true at rest under pressure.
static inline bool soft_rest(soft* s, double unrest)
{
    enum { MOST = 2000 }; // steps: sound crosses a tile of 50 diameters six times
    double overlap = soft_step(s, 0.0);
    for (int i = 0; i < MOST && overlap > 0.2 * TILE_OVERLAP && soft_unrest(s) > unrest; i++) {
        overlap = soft_step(s, 0.0);
    }
    return overlap > TILE_OVERLAP;
}

/// Balls grown until they jam, at rest. Less friction makes them jam more densely.
static inline tile make_tile(int dim, int64_t count, double friction)
{
    tile t = random_tile(dim, count);
    soft s = soft_begin(&t, friction);
    double volume = 0.0;
    for (int64_t i = 0; i < count; i++) volume += ball_volume(dim, t.radius[i]);
    const double loose = (dim == 2 ? 0.74 : 0.52) / (volume / pow(t.side, dim));
    for (double grown = 1.0; pow(grown, dim) < loose; grown *= 1.0 + 1.5e-4) soft_step(&s, 1.5e-4);
    do {
        for (int i = 0; i < 20; i++) soft_step(&s, 2e-5);
    } while (!soft_rest(&s, 1e-2));
    soft_rest(&s, 1e-3);
    double mean = 0.0;
    for (int64_t i = 0; i < count; i++) mean += 2.0 * t.radius[i] / (double)count;
    t.side /= mean;
    for (int64_t i = 0; i < count * dim; i++) t.position[i] /= mean;
    for (int64_t i = 0; i < count; i++) t.radius[i] /= mean;
    soft_end(&s);
    return t;
}

#endif
