/// Random contact problems of every kind for test_packed.c, in the engine's layout.
///
/// There is no geometry behind them: bodies are rows of numbers, contacts join bodies that are near
/// in the list. What the algebra asks for is kept: blocks are made from arms and masses, the
/// responses of a compound contact fit its radii and turns.
#ifndef TALUS_TESTS_PACKED_MODEL_H
#define TALUS_TESTS_PACKED_MODEL_H

#include "random.h"
#include "support.h"

#include "rigid/problem.h"

#include <string.h>

enum { MOBILE_WALLS = 2 };

/// Which laws the compound contacts have.
typedef enum compound_laws { NO_TORQUES, ROLLING, MIXED } compound_laws;

/// What a problem consists of; shares are probabilities.
typedef struct cloud {
    const char* name;
    int dim, bodies, contacts;
    double solids;   ///< bodies with arms of their own
    double compound; ///< contacts with more than friction
    compound_laws laws;
    double fixed;  ///< bodies that do not move
    double pivots; ///< bodies that turn but do not move
    double uneven; ///< balls with another moment of inertia
    double walls;  ///< contacts with a fixed wall
    double mobile; ///< contacts with mobile walls
    double hub;    ///< contacts with body 0
} cloud;

static inline bool chance(rng* r, double share)
{
    return rng_uniform(r) < share;
}

static inline void random_numbers(rng* r, int count, double size, double* x)
{
    for (int k = 0; k < count; k++) x[k] = size * rng_normal(r);
}

static inline void random_unit(rng* r, int dim, double* n)
{
    double length = 0.0;
    while (length < 0.1) {
        random_numbers(r, dim, 1.0, n);
        length = vec_norm(dim, n);
    }
    for (int k = 0; k < dim; k++) n[k] /= length;
}

static inline void fill_cloud_body(rng* r, const cloud* c, bool solid, double* row)
{
    const int dim = c->dim;
    double im = exp(rng_normal(r)), kim = (dim == 2 ? 2.0 : 2.5) * im;
    random_numbers(r, problem_stride(dim), 1.0, row);
    if (solid) kim = im * uniform(r, 0.5, 2.0);
    if (chance(r, c->uneven)) kim *= 1.3;
    if (chance(r, c->fixed)) im = kim = 0.0;
    if (chance(r, c->pivots)) im = 0.0;
    row[row_im(dim)] = im;
    row[row_kim(dim)] = kim;
}

/// Velocity of a ball's surface at -n (side = -1) or n: G with v = G w, w in units of the radius.
static inline void ball_arms(int dim, const double* n, double side, double* arm)
{
    if (dim == 2) {
        arm[0] = -side * n[1], arm[1] = side * n[0];
        return;
    }
    for (int k = 0; k < 3; k++) {
        double w[3] = {k == 0, k == 1, k == 2}, v[3];
        vec_cross(v, w, n);
        for (int i = 0; i < 3; i++) arm[3 * i + k] = side * v[i];
    }
}

static inline void add_product(int rows, int columns, int inner, double s, const double* x,
                               const double* y, double* out)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            out[i * columns + j] += s * vec_dot(inner, x + 3 * i, y + j * inner);
        }
    }
}

/// How a compound contact turns its bodies.
static inline void fill_cloud_turn(rng* r, problem* p, int64_t c, bool solid, bool turns_a)
{
    const int dim = p->dim, stride = problem_stride(dim), spin = dim == 2 ? 1 : 3;
    compound_contact* compound = &p->compound_rows[p->compound[c]];
    compound_turn* t = &p->compound_turns[p->compound[c]];
    const double kim_a = p->free[p->pair[2 * c] * stride + row_kim(dim)];
    const double kim_b = p->free[p->pair[2 * c + 1] * stride + row_kim(dim)];
    *t = (compound_turn){.used = solid};
    compound->inv_radius_b = uniform(r, 0.5, 2.0);
    compound->inv_radius_a = turns_a ? uniform(r, 0.5, 2.0) : 0.0;
    compound->coupling = kim_b * compound->inv_radius_b - kim_a * compound->inv_radius_a;
    compound->response = kim_b * compound->inv_radius_b * compound->inv_radius_b +
                         kim_a * compound->inv_radius_a * compound->inv_radius_a;
    if (!solid) return;
    const double* block = problem_block(p, dim, c);
    random_numbers(r, 9, 1.0, t->turn_b);
    if (turns_a) random_numbers(r, 9, 1.0, t->turn_a);
    add_product(spin, dim, spin, kim_a, t->turn_a, block + block_arm_a(dim), t->arms.coupling);
    add_product(spin, dim, spin, kim_b, t->turn_b, block + block_arm_b(dim), t->arms.coupling);
    add_product(spin, spin, spin, kim_a, t->turn_a, t->turn_a, t->arms.response);
    add_product(spin, spin, spin, kim_b, t->turn_b, t->turn_b, t->arms.response);
}

static inline compound_contact random_laws(rng* r, const cloud* c, const double* n, double mu)
{
    compound_contact compound = {.h = 0.1, .sliding_mu = mu * uniform(r, 0.5, 1.0)};
    const bool torques = c->laws == ROLLING || (c->laws == MIXED && chance(r, 0.5));
    if (chance(r, 0.6)) {
        compound.bond = rng_uniform(r);
        compound.closing = chance(r, 0.5) ? 0.1 * rng_uniform(r) : 0.0;
    }
    if (chance(r, 0.5)) {
        random_numbers(r, c->dim, 0.5, compound.slip);
        vec_add_scaled(c->dim, compound.slip, -vec_dot(c->dim, compound.slip, n), n);
    }
    if (torques) {
        const double hertz = c->dim == 2 ? 0.5 : 1.0 / 3.0;
        compound.rolling = (rolling_bound){0.3 * rng_uniform(r), chance(r, 0.3) ? hertz : 0.0};
        compound.torsion = (rolling_bound){chance(r, 0.7) ? 0.3 * rng_uniform(r) : 0.0,
                                           chance(r, 0.3) ? hertz : 0.0};
        random_numbers(r, c->dim == 2 ? 1 : 3, 0.2, compound.torque);
    }
    random_numbers(r, c->dim == 2 ? 1 : 3, 0.1, compound.spin_a);
    return compound;
}

/// Rows of the bodies of contact c; b moves and is no wall.
static inline void choose_pair(rng* r, const cloud* c, problem* p, int64_t contact)
{
    const int dim = c->dim, stride = problem_stride(dim);
    const double kind = rng_uniform(r);
    int64_t b, a;
    do {
        b = (contact * c->bodies / c->contacts + (int64_t)rng_below(r, 9)) % c->bodies;
    } while (b == 0 || !(p->free[b * stride + row_im(dim)] > 0.0));
    a = (b + 1 + (int64_t)rng_below(r, 9)) % c->bodies;
    if (kind < c->hub) a = 0;
    if (kind >= c->hub && kind < c->hub + c->mobile) {
        a = p->mobile_first + (int64_t)rng_below(r, MOBILE_WALLS);
    }
    if (kind > 1.0 - c->walls) {
        a = p->rows++;
        memset(p->free + a * stride, 0, sizeof(double) * (size_t)stride);
        random_numbers(r, dim, 0.3, p->free + a * stride);
    }
    p->pair[2 * contact] = (int32_t)a;
    p->pair[2 * contact + 1] = (int32_t)b;
}

static inline void fill_cloud_contact(rng* r, const cloud* c, const bool* solid, problem* p,
                                      int64_t contact)
{
    const int dim = c->dim, stride = problem_stride(dim), arm_size = dim == 2 ? 2 : 9;
    double* row = p->contact + contact * problem_width(dim);
    choose_pair(r, c, p, contact);
    const int32_t a = p->pair[2 * contact], b = p->pair[2 * contact + 1];
    const bool solid_a = a < c->bodies && solid[a], mobile = problem_mobile_wall(p, a) >= 0;
    const double *free_a = p->free + a * stride, *free_b = p->free + b * stride;
    random_unit(r, dim, row);
    if (mobile && chance(r, 0.7)) { // across the wall's axis 0: a diagonal block for balls
        for (int k = 0; k < dim; k++) row[k] = k > 0 ? 0.0 : row[0] > 0.0 ? 1.0 : -1.0;
    }
    row[contact_bias(dim)] = chance(r, 0.5) ? 0.0 : rng_uniform(r);
    row[contact_mu(dim)] = chance(r, 0.1) ? 0.0 : rng_uniform(r);
    const bool unloaded = row[contact_bias(dim)] > 0.0 && chance(r, 0.7);
    random_numbers(r, dim, unloaded ? 0.0 : 0.5, row + contact_p(dim));
    const double im = free_a[row_im(dim)] + free_b[row_im(dim)];
    const double kim = free_a[row_kim(dim)] + free_b[row_kim(dim)];
    row[contact_mn(dim)] = 1.0 / im;
    row[contact_mt(dim)] = 1.0 / (im + kim);
    if (solid_a || solid[b] || mobile) {
        p->block[contact] = (int32_t)p->block_count++;
        double* block = problem_block(p, dim, contact);
        ball_arms(dim, row, 1.0, block + block_arm_a(dim));
        ball_arms(dim, row, -1.0, block + block_arm_b(dim));
        if (solid_a) random_numbers(r, arm_size, 0.6, block + block_arm_a(dim));
        if (solid[b]) random_numbers(r, arm_size, 0.6, block + block_arm_b(dim));
        if (a >= c->bodies) memset(block + block_arm_a(dim), 0, sizeof(double) * (size_t)arm_size);
        problem_fill_block(p, contact, row, &row[contact_mn(dim)], &row[contact_mt(dim)]);
    }
    if (!chance(r, c->compound)) return;
    p->compound[contact] = (int32_t)p->compound_count++;
    p->compound_rows[p->compound[contact]] = random_laws(r, c, row, row[contact_mu(dim)]);
    fill_cloud_turn(r, p, contact, solid_a || solid[b], a < c->bodies);
}

// ---- mobile walls ------------------------------------------------------------------------------

/// Velocities of the mobile walls, and of the copies that are rows from `first` on, of the contacts
/// from which `of` counts: those with the impulses in `contact`.
static inline void move_copies(const problem* p, int64_t first, const int32_t* wall_of,
                               const double* contact, double* rows)
{
    const int dim = p->dim, stride = problem_stride(dim), width = problem_width(dim);
    for (int64_t wall = 0; wall < p->mobile_count; wall++) {
        const int64_t row = p->mobile_first + wall;
        double push[3] = {0.0, 0.0, 0.0};
        for (int64_t c = 0; c < p->count; c++) {
            if (wall_of[c] == wall)
                vec_add_scaled(dim, push, 1.0, contact + c * width + contact_p(dim));
        }
        for (int i = 0; i < dim; i++) {
            rows[row * stride + i] = p->free[row * stride + i] -
                                     vec_dot(dim, p->mobility + (wall * dim + i) * dim, push);
        }
    }
    for (int64_t c = 0; c < p->count; c++) {
        if (wall_of[c] < 0) continue;
        vec_copy(dim, rows + first * stride, rows + (p->mobile_first + wall_of[c]) * stride);
        first++;
    }
}

/// Give every contact of a mobile wall a copy of it, a row that stays what it is while contacts are
/// updated, and the response that it has to a wall of which each contact bears its share. Returns
/// the first of these rows; wall_of is [contacts].
static inline int64_t split_mobile_walls(problem* p, int32_t* wall_of)
{
    const int dim = p->dim, stride = problem_stride(dim);
    const int64_t first = p->rows;
    int64_t contacts[MOBILE_WALLS] = {0};
    for (int64_t c = 0; c < p->count; c++) {
        wall_of[c] = (int32_t)problem_mobile_wall(p, p->pair[2 * c]);
        if (wall_of[c] >= 0) contacts[wall_of[c]]++;
    }
    for (int64_t c = 0; c < p->count; c++) {
        double* row = p->contact + c * problem_width(dim);
        if (wall_of[c] < 0) continue;
        const size_t bytes = sizeof(double) * (size_t)stride;
        memcpy(p->free + p->rows * stride, p->free + p->pair[2 * c] * stride, bytes);
        memcpy(p->body + p->rows * stride, p->free + p->rows * stride, bytes);
        p->pair[2 * c] = (int32_t)p->rows++;
        vec_add_scaled(dim * dim, problem_block(p, dim, c), (double)contacts[wall_of[c]] - 1.0,
                       p->mobility + wall_of[c] * dim * dim);
        problem_responses(dim, problem_block(p, dim, c), row, &row[contact_mn(dim)],
                          &row[contact_mt(dim)]);
    }
    move_copies(p, first, wall_of, p->contact, p->body);
    return first;
}

// ---- a problem ---------------------------------------------------------------------------------

/// The same numbers for the same seed.
static inline void fill_cloud(const cloud* c, uint64_t seed, problem* p)
{
    rng r = rng_make(seed, (uint64_t)c->dim, 77);
    const int dim = c->dim, stride = problem_stride(dim);
    const problem_size size = {.rows = c->bodies + MOBILE_WALLS + c->contacts,
                               .contacts = c->contacts,
                               .blocks = c->contacts,
                               .compound = c->contacts,
                               .mobile = MOBILE_WALLS};
    assert_int_equal(problem_reset(p, dim, &size), 0);
    bool* solid = calloc((size_t)c->bodies, sizeof *solid);
    for (int i = 0; i < c->bodies; i++) {
        solid[i] = chance(&r, c->solids);
        fill_cloud_body(&r, c, solid[i], p->free + i * stride);
    }
    p->rows = c->bodies + MOBILE_WALLS;
    p->mobile_first = c->bodies;
    p->mobile_count = MOBILE_WALLS;
    memset(p->free + c->bodies * stride, 0, sizeof(double) * (size_t)(MOBILE_WALLS * stride));
    for (int wall = 0; wall < MOBILE_WALLS; wall++) {
        double* mobility = p->mobility + wall * dim * dim;
        random_numbers(&r, dim, 1.0, p->free + (c->bodies + wall) * stride);
        for (int i = 0; i < dim; i++) {
            for (int j = 0; j < dim; j++) {
                mobility[i * dim + j] = i != j ? 0.0 : i == 0 ? 0.3 : 0.7 + wall;
            }
        }
    }
    for (int64_t k = 0; k < c->contacts; k++) fill_cloud_contact(&r, c, solid, p, k);
    p->count = c->contacts;
    problem_refresh(p);
    free(solid);
}

/// Let a contact in the middle have another body, so that a layout fits no more.
static inline void change_a_pair(problem* p)
{
    for (int64_t c = p->count / 2;; c++) {
        const int32_t a = p->pair[2 * c], b = p->pair[2 * c + 1], other = p->pair[2 * c + 3];
        if (a >= p->mobile_first || a == 0 || other == a || other == b) continue;
        p->pair[2 * c] = other;
        return;
    }
}

#endif
