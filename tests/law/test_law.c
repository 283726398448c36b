/// The contact law at one contact: Signorini and Coulomb hold to rounding, whatever the block.
///
/// Everything is recomputed from the impulse alone: u = free + S p, then the conditions of
/// law/coulomb.h one by one. Blocks are those the engine builds: diagonal between balls,
/// im I + kim (I - n n) + W with a wall's inverse mass matrix W of rank 1 (servo), 2 or 3.
#include "random.h"
#include "support.h"

#include "law/coulomb.h"

#include <float.h>
#include <string.h>

/// One contact: u = free + S p, law with bias and mu.
typedef struct sample {
    int dim;
    double n[3], S[9], free[3], bias, mu;
} sample;

static void random_direction(rng* r, int dim, double* n)
{
    double length;
    do {
        for (int k = 0; k < dim; k++) n[k] = rng_normal(r);
        length = vec_norm(dim, n);
    } while (length < 1e-3);
    for (int k = 0; k < dim; k++) n[k] /= length;
}

static double random_mu(rng* r)
{
    double kind = rng_uniform(r);
    return kind < 0.1 ? 0.0 : kind < 0.2 ? uniform(r, 1.0, 3.0) : uniform(r, 0.0, 1.0);
}

/// The ball's part of a block: im I + kim (I - n n).
static void add_ball(sample* s, double im, double kim)
{
    for (int i = 0; i < s->dim; i++) {
        for (int j = 0; j < s->dim; j++) {
            double identity = i == j ? 1.0 : 0.0;
            s->S[i * s->dim + j] += (im + kim) * identity - kim * s->n[i] * s->n[j];
        }
    }
}

static void add_axis(sample* s, double inverse_mass, const double* axis)
{
    for (int i = 0; i < s->dim; i++) {
        for (int j = 0; j < s->dim; j++) s->S[i * s->dim + j] += inverse_mass * axis[i] * axis[j];
    }
}

static void random_load(rng* r, sample* s)
{
    random_direction(r, s->dim, s->free);
    double speed = log_uniform(r, 1e-3, 1e3);
    for (int k = 0; k < s->dim; k++) s->free[k] *= speed;
    double kind = rng_uniform(r);
    s->bias = kind < 0.5 ? 0.0 : (kind < 0.9 ? 1.0 : -1.0) * speed * rng_uniform(r);
    s->mu = random_mu(r);
}

/// A ball of unit-order mass against a mobile wall that is free along `rank` axes, heavier or
/// lighter than the ball by up to `ratio`.
static sample random_wall_contact(rng* r, int dim, int rank, double ratio)
{
    sample s = {.dim = dim};
    random_direction(r, dim, s.n);
    double im = log_uniform(r, 1e-2, 1e2);
    double kappa = rng_uniform(r) < 0.1 ? 0.0 : dim == 2 ? 2.0 : 2.5;
    add_ball(&s, im, kappa * im);
    double wall = im * log_uniform(r, 1.0 / ratio, ratio);
    if (rank == 1) {
        double axis[3];
        random_direction(r, dim, axis);
        add_axis(&s, wall, axis);
    } else {
        int locked = rank < dim ? (int)rng_below(r, (uint64_t)dim) : dim;
        for (int k = 0; k < dim; k++) {
            double axis[3] = {k == 0, k == 1, k == 2};
            if (k != locked) add_axis(&s, wall, axis);
        }
    }
    random_load(r, &s);
    return s;
}

static double trace(const sample* s)
{
    double sum = 0.0;
    for (int k = 0; k < s->dim; k++) sum += s->S[k * s->dim + k];
    return sum;
}

static void velocity(const sample* s, const double* p, double* u)
{
    for (int i = 0; i < s->dim; i++) u[i] = s->free[i] + vec_dot(s->dim, s->S + i * s->dim, p);
}

static bool solve(const sample* s, double* p)
{
    double inverse[9];
    assert_true(coulomb_block_inverse(s->dim, s->S, inverse));
    return coulomb_block(s->dim, s->S, inverse, s->n, s->bias, s->mu, s->free, NULL, p);
}

/// Largest violation of the law by p, relative to U = |free| + |bias| + |S||p| for velocities and
/// to U over the mean response for impulses. Complementarity is measured as min(p_n, opening), so
/// that it is seen at full size; the direction of friction with the weight of the slip, because
/// rounding of u turns a small slip by its inverse.
static double violation(const sample* s, const double* p)
{
    const int dim = s->dim;
    double u[3], pt[3], ut[3];
    velocity(s, p, u);
    double pn = vec_dot(dim, p, s->n), un = vec_dot(dim, u, s->n);
    for (int k = 0; k < dim; k++) {
        pt[k] = p[k] - pn * s->n[k];
        ut[k] = u[k] - un * s->n[k];
    }
    double response = trace(s) / dim;
    double U = vec_norm(dim, s->free) + fabs(s->bias) + trace(s) * vec_norm(dim, p);
    double P = U / response;
    double slip = vec_norm(dim, ut), rub = vec_norm(dim, pt), opening = un + s->bias;
    double worst = fmax(-pn / P, -opening / U);
    worst = fmax(worst, fmin(pn / P, opening / U));
    worst = fmax(worst, (rub - s->mu * pn) / P);
    double against[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < dim && slip > 0.0; k++) against[k] = pt[k] + s->mu * pn * ut[k] / slip;
    return fmax(worst, slip / U * (vec_norm(dim, against) / P));
}

// ---- diagonal blocks ---------------------------------------------------------------------------

static void test_map_satisfies_the_law(void** state)
{
    (void)state;
    rng r = rng_make(2024, 1, 0);
    const int count = test_count(1000000, 20000);
    for (int dim = 2; dim <= 3; dim++) {
        double worst = 0.0;
        int open = 0, stick = 0, slide = 0;
        for (int i = 0; i < count; i++) {
            sample s = {.dim = dim};
            random_direction(&r, dim, s.n);
            double im = log_uniform(&r, 1e-3, 1e3), kim = im * uniform(&r, 0.0, 3.0);
            add_ball(&s, im, kim);
            random_load(&r, &s);
            double p[3], start[3], u[3];
            random_direction(&r, dim, start);
            double size = rng_uniform(&r) * vec_norm(dim, s.free) / im;
            for (int k = 0; k < dim; k++) start[k] *= size;
            velocity(&s, start, u);
            coulomb_map(dim, s.n, 1.0 / im, 1.0 / (im + kim), s.bias, s.mu, u, start, p);
            worst = fmax(worst, violation(&s, p));
            double pn = vec_dot(dim, p, s.n);
            double rub = sqrt(fmax(0.0, vec_dot(dim, p, p) - pn * pn));
            open += pn == 0.0;
            slide += pn > 0.0 && rub >= s.mu * pn * (1.0 - 1e-9);
            stick += pn > 0.0 && rub < s.mu * pn * (1.0 - 1e-9);
        }
        printf("%dD: %d open, %d stick, %d slide\n", dim, open, stick, slide);
        assert_true(open > count / 10 && stick > count / 20 && slide > count / 20);
        check_below("violation of the law by the diagonal solution", worst, 100.0 * DBL_EPSILON,
                    "about 30 roundings of terms of size U, each at most eps/2, with a normal that "
                    "is unit to 2 eps and im/(im + kim) as small as 1/4");
    }
}

static void test_projection_keeps_the_cone(void** state)
{
    (void)state;
    rng r = rng_make(2024, 2, 0);
    double worst_cone = 0.0, worst_move = 0.0;
    for (int i = 0; i < test_count(200000, 20000); i++) {
        const int dim = 2 + (int)rng_below(&r, 2);
        double n[3], q[3], once[3], twice[3];
        random_direction(&r, dim, n);
        random_direction(&r, dim, q);
        double mu = random_mu(&r);
        vec_copy(dim, once, q);
        coulomb_project(dim, n, mu, vec_dot(dim, q, n), once);
        double pn = vec_dot(dim, once, n), tt = 0.0, moved = 0.0;
        for (int k = 0; k < dim; k++) tt += pow(once[k] - pn * n[k], 2);
        worst_cone = fmax(worst_cone, sqrt(tt) - mu * pn);
        vec_copy(dim, twice, once);
        coulomb_project(dim, n, mu, vec_dot(dim, once, n), twice);
        for (int k = 0; k < dim; k++) moved = fmax(moved, fabs(twice[k] - once[k]));
        worst_move = fmax(worst_move, moved);
    }
    check_below("outside of the cone after projection", worst_cone, 20.0 * DBL_EPSILON,
                "unit vectors, about 10 roundings");
    check_below("a second projection moves by", worst_move, 40.0 * DBL_EPSILON,
                "unit vectors, about 20 roundings");
}

// ---- full blocks -------------------------------------------------------------------------------

/// Worst violation and number of "not found" over random walls of one rank.
static void try_blocks(rng* r, int dim, int rank, double ratio, int count)
{
    double worst = 0.0;
    int not_found = 0, open = 0;
    for (int i = 0; i < count; i++) {
        sample s = random_wall_contact(r, dim, rank, ratio);
        double p[3];
        if (!solve(&s, p)) {
            not_found++;
            continue;
        }
        open += vec_dot(dim, p, s.n) == 0.0;
        worst = fmax(worst, violation(&s, p));
    }
    printf("%dD, wall free along %d axes, mass ratio to 1:%g: %d contacts, %d open, %d not found\n",
           dim, rank, ratio, count, open, not_found);
    assert_int_equal(not_found, 0); // a solution exists for every positive definite block
    check_below("violation of the law by the block solution", worst, 1e-12,
                "a backward error: some 100 roundings relative to |S||p|, with room to spare");
}

static void test_block_satisfies_the_law(void** state)
{
    (void)state;
    rng r = rng_make(2024, 3, 0);
    for (int dim = 2; dim <= 3; dim++) {
        for (int rank = 1; rank <= dim; rank++) {
            try_blocks(&r, dim, rank, 10.0, test_count(60000, 2000));
            try_blocks(&r, dim, rank, 1e4, test_count(60000, 2000));
        }
    }
}

static void test_block_equals_map_for_balls(void** state)
{
    (void)state;
    rng r = rng_make(2024, 4, 0);
    double worst = 0.0;
    for (int i = 0; i < test_count(100000, 5000); i++) {
        sample s = {.dim = 2 + (int)rng_below(&r, 2)};
        random_direction(&r, s.dim, s.n);
        double im = log_uniform(&r, 1e-3, 1e3), kim = im * uniform(&r, 0.0, 3.0);
        add_ball(&s, im, kim);
        random_load(&r, &s);
        double zero[3] = {0.0, 0.0, 0.0}, map[3], block[3], difference[3];
        coulomb_map(s.dim, s.n, 1.0 / im, 1.0 / (im + kim), s.bias, s.mu, s.free, zero, map);
        assert_true(solve(&s, block));
        vec_sub(s.dim, difference, map, block);
        double scale = (vec_norm(s.dim, s.free) + fabs(s.bias)) / im;
        worst = fmax(worst, vec_norm(s.dim, difference) / scale);
    }
    check_below("map against block on diagonal blocks", worst, 1e-13,
                "the angle of slip is known to rounding and S is rotated twice: ~100 eps");
}

/// Impulses exactly on the edge of the cone with no slip: stick and slide are both right, and
/// rounding decides which is tried. A solver that converges to such a state calls this again and
/// again, so "not found" or a jump would never let it come to rest.
static void test_block_on_the_edge_of_sliding(void** state)
{
    (void)state;
    rng r = rng_make(2024, 5, 0);
    double worst = 0.0;
    int not_found = 0;
    const int count = test_count(100000, 5000);
    for (int i = 0; i < count; i++) {
        const int dim = 2 + (int)rng_below(&r, 2);
        sample s = random_wall_contact(&r, dim, 1 + (int)rng_below(&r, (uint64_t)dim), 10.0);
        s.mu = uniform(&r, 0.05, 1.0);
        double t[3], edge[3], p[3];
        random_direction(&r, dim, t);
        double along = vec_dot(dim, t, s.n);
        for (int k = 0; k < dim; k++) t[k] -= along * s.n[k];
        double length = vec_norm(dim, t);
        if (length < 0.1) continue;
        for (int k = 0; k < dim; k++) edge[k] = s.n[k] + s.mu * t[k] / length;
        for (int k = 0; k < dim; k++) s.free[k] = -vec_dot(dim, s.S + k * dim, edge);
        s.bias = 0.0;
        if (vec_dot(dim, s.free, s.n) >= 0.0) continue; // open is a solution as well
        not_found += !solve(&s, p);
        worst = fmax(worst, violation(&s, p));
    }
    printf("on the edge of sliding: %d not found\n", not_found);
    assert_int_equal(not_found, 0);
    check_below("violation of the law on the edge of sliding", worst, 1e-12,
                "accepted slip power 1e-13 and some 100 roundings, with room to spare");
}

// ---- against an independent method -------------------------------------------------------------

/// De Saxce's fixed point p = proj_K(p - rho (u + mu |u_t| n)), the Euclidean projection on the
/// cone, tiny steps until nothing changes. True if it settled.
static bool fixed_point(const sample* s, double* p)
{
    const int dim = s->dim;
    const double rho = 0.5 / trace(s);
    double scale = vec_norm(dim, s->free) * rho;
    for (int k = 0; k < dim; k++) p[k] = 0.0;
    for (int sweep = 0; sweep < 20000; sweep++) {
        double u[3], q[3], t[3], change = 0.0;
        velocity(s, p, u);
        double un = vec_dot(dim, u, s->n), uu = vec_dot(dim, u, u);
        double slip = sqrt(fmax(0.0, uu - un * un));
        for (int k = 0; k < dim; k++) {
            q[k] = p[k] - rho * (u[k] + (s->bias + s->mu * slip) * s->n[k]);
        }
        double qn = vec_dot(dim, q, s->n);
        for (int k = 0; k < dim; k++) t[k] = q[k] - qn * s->n[k];
        double tt = vec_norm(dim, t), new_n = qn, new_t = tt;
        if (s->mu * tt <= -qn) {
            new_n = new_t = 0.0;
        } else if (tt > s->mu * qn) {
            new_n = (qn + s->mu * tt) / (1.0 + s->mu * s->mu);
            new_t = s->mu * new_n;
        }
        for (int k = 0; k < dim; k++) {
            double value = new_n * s->n[k] + (tt > 0.0 ? new_t * t[k] / tt : 0.0);
            change = fmax(change, fabs(value - p[k]));
            p[k] = value;
        }
        if (change <= 1e-15 * scale) return true;
    }
    return false;
}

static void test_block_agrees_with_fixed_point(void** state)
{
    (void)state;
    rng r = rng_make(2024, 6, 0);
    double worst = 0.0;
    int settled = 0;
    const int count = test_count(4000, 200);
    for (int i = 0; i < count; i++) {
        const int dim = 2 + (int)rng_below(&r, 2);
        sample s = random_wall_contact(&r, dim, 1 + (int)rng_below(&r, (uint64_t)dim), 3.0);
        s.mu = uniform(&r, 0.0, 0.5); // weak coupling: the solution is unique
        double slow[3], fast[3], difference[3];
        if (!fixed_point(&s, slow)) continue;
        settled++;
        assert_true(solve(&s, fast));
        vec_sub(dim, difference, slow, fast);
        double scale = (vec_norm(dim, s.free) + fabs(s.bias)) / trace(&s);
        worst = fmax(worst, vec_norm(dim, difference) / scale);
    }
    printf("fixed point settled in %d of %d\n", settled, count);
    assert_true(settled > count * 9 / 10);
    check_below("block against the slow fixed point", worst, 1e-11,
                "the iteration stops at changes of 1e-15 and contracts by at least 1e-3 a sweep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_satisfies_the_law),
        cmocka_unit_test(test_projection_keeps_the_cone),
        cmocka_unit_test(test_block_equals_map_for_balls),
        cmocka_unit_test(test_block_agrees_with_fixed_point),
        cmocka_unit_test(test_block_on_the_edge_of_sliding),
        cmocka_unit_test(test_block_satisfies_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
