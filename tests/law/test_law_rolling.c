/// Contacts with torques, bonds and tangential restitution: the law holds to rounding.
///
/// The impulses that the laws return are put into the explicit 6x6 block of
/// tests/support/rolling_model.h (lever arms, inertia tensors), the motion is recomputed and every
/// condition checked; and they are compared with a dense solve of the same 6 unknowns. Bodies are
/// grains of unequal radii and densities, with locked rotations, fixed ones, turning walls, and
/// mobile walls (full blocks).
#include "random.h"
#include "rolling_model.h"

#include "law/compound.h"
#include "rigid/problem.h"

#include <float.h>

/// The laws promise their solution to rounding; 1e-10 leaves room for radii 1:100 and masses
/// 1:10^6, whose sums lose six digits.
static const double TOLERANCE = 1e-10;
#define WHY "rounding (1e-16) times the ratio of the masses in one sum (1e6)"

static void random_vector(rng* r, int dim, double size, double* v)
{
    double length;
    do {
        for (int k = 0; k < 3; k++) v[k] = k < dim ? rng_normal(r) : 0.0;
        length = model_norm(v);
    } while (length < 1e-3);
    for (int k = 0; k < 3; k++) v[k] *= size / length;
}

static void random_spin(rng* r, int dim, double size, double* w)
{
    random_vector(r, 3, size, w);
    if (dim == 2) w[0] = w[1] = 0.0;
}

/// What a sample is made of.
typedef enum partner { GRAINS, FIXED_GRAIN, TURNING_WALL, MOBILE_WALL, PARTNERS } partner;
static const char* const partner_name[PARTNERS] = {"two grains", "a fixed grain", "a turning wall",
                                                   "a mobile wall"};

typedef struct sample {
    partner with;
    model_body a, b;
    model_law law;
    model full;
    // The same for the engine.
    compound_contact contact;
    double im_a, im_b, kim_a, kim_b, S[9];
    double u[3], spin[3];
    compound_problem problem;
} sample;

// ---- samples -----------------------------------------------------------------------------------

/// A grain with its inverse mass and its kim = R^2/I, one in ten with a locked rotation.
static model_body random_grain(rng* r, int dim, double radius, double* im, double* kim)
{
    double mass = pow(radius, dim) * log_uniform(r, 0.1, 10.0);
    bool locked = rng_uniform(r) < 0.1;
    double inertia = (dim == 2 ? 0.5 : 0.4) * mass * radius * radius;
    *im = 1.0 / mass;
    *kim = locked ? 0.0 : radius * radius / inertia;
    return model_grain(dim, radius, mass, locked ? 0.0 : inertia);
}

/// Bounds of every ratio: friction from 0 to 3, lengths from a thousandth of the radius to ten.
static void random_law(rng* r, model_law* law, double radius, double speed, double impulse)
{
    double kind = rng_uniform(r);
    law->h = log_uniform(r, 1e-5, 1e-1);
    law->bias = kind < 0.5 ? 0.0 : (kind < 0.9 ? 1.0 : -1.0) * speed * rng_uniform(r);
    law->mu = rng_uniform(r) < 0.1 ? 0.0 : log_uniform(r, 1e-2, 3.0);
    law->bond = rng_uniform(r) < 0.5 ? 0.0 : impulse * log_uniform(r, 1e-2, 1e1);
    law->kind = (talus_rolling_kind)rng_below(r, 3);
    double unit = law->kind == TALUS_ROLLING_LENGTH ? radius : 1.0;
    if (law->kind == TALUS_ROLLING_HERTZ) {
        double exponent = law->dim == 2 ? 0.5 : 1.0 / 3.0;
        unit = radius / pow(law->reduced_radius * impulse / law->h, exponent);
    }
    law->rolling = rng_uniform(r) < 0.1 ? 0.0 : unit * log_uniform(r, 1e-3, 10.0);
    law->torsion = rng_uniform(r) < 0.1 ? 0.0 : unit * log_uniform(r, 1e-3, 10.0);
    if (rng_uniform(r) < 0.2) random_vector(r, law->dim, speed * rng_uniform(r), law->slip);
}

static void random_partner(rng* r, sample* s, double speed, double* inv_radius_a)
{
    const int dim = s->law.dim;
    double radius = s->b.radius * log_uniform(r, 1e-2, 1e2);
    s->law.reduced_radius = radius * s->b.radius / (radius + s->b.radius);
    *inv_radius_a = 1.0 / radius;
    if (s->with == GRAINS) {
        s->a = random_grain(r, dim, radius, &s->im_a, &s->kim_a);
    } else if (s->with == FIXED_GRAIN) {
        s->a = model_grain(dim, radius, 0.0, 0.0);
    } else { // a wall's row holds the velocity at the contact, so its arm is zero
        s->a = model_grain(dim, 0.0, 0.0, 0.0);
        s->law.reduced_radius = s->b.radius;
        *inv_radius_a = 0.0;
    }
    if (s->with == MOBILE_WALL) { // free along all axes but perhaps one, or along a servo's axis
        double im = s->im_b * log_uniform(r, 1e-3, 1e3), axis[3];
        int locked = (int)rng_below(r, 5);
        random_vector(r, dim, 1.0, axis);
        for (int i = 0; i < dim; i++) {
            for (int j = 0; j < dim; j++) {
                s->a.mobility[i][j] = locked == 4             ? im * axis[i] * axis[j]
                                      : i == j && i != locked ? im
                                                              : 0.0;
            }
        }
    } else {
        random_spin(r, dim, rng_uniform(r) * speed / s->b.radius, s->a.w);
    }
    random_vector(r, dim, speed, s->a.v);
}

/// The engine's view: responses and coupling as law/rolling.h defines them.
static void fill_contact(sample* s, double inv_radius_a)
{
    const int dim = s->law.dim;
    compound_contact* c = &s->contact;
    *c = (compound_contact){.h = s->law.h,
                            .bond = s->law.bond,
                            .sliding_mu = s->law.mu,
                            .inv_radius_a = inv_radius_a,
                            .inv_radius_b = 1.0 / s->b.radius};
    c->rolling = rolling_bound_of(dim, s->law.kind, s->law.rolling, s->law.reduced_radius);
    c->torsion = rolling_bound_of(dim, s->law.kind, s->law.torsion, s->law.reduced_radius);
    memcpy(c->slip, s->law.slip, sizeof c->slip);
    c->coupling = s->kim_b * c->inv_radius_b - s->kim_a * c->inv_radius_a;
    c->response =
        s->kim_b * c->inv_radius_b * c->inv_radius_b + s->kim_a * c->inv_radius_a * c->inv_radius_a;
    for (int k = 0; k < 3; k++) c->spin_a[k] = inv_radius_a > 0.0 ? 0.0 : s->a.w[k];
    if (dim == 2) c->spin_a[0] = inv_radius_a > 0.0 ? 0.0 : s->a.w[2];
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) s->S[i * dim + j] = s->full.W[i][j];
    }
    memcpy(s->u, s->full.free, sizeof s->u);
    memcpy(s->spin, s->full.free + 3, sizeof s->spin);
    if (dim == 2) s->spin[0] = s->full.free[5];
    s->problem = (compound_problem){.dim = dim,
                                    .n = s->full.n,
                                    .wn = s->im_a + s->im_b,
                                    .wt = s->im_a + s->im_b + s->kim_a + s->kim_b,
                                    .S = s->with == MOBILE_WALL ? s->S : NULL,
                                    .bias = s->law.bias,
                                    .mu = s->law.mu,
                                    .contact = &s->contact,
                                    .u = s->u,
                                    .spin = s->spin};
}

static void random_sample(rng* r, int dim, partner with, sample* s)
{
    *s = (sample){.with = with, .law.dim = dim};
    double radius = log_uniform(r, 1e-2, 1.0), speed = log_uniform(r, 1e-3, 1e3), n[3];
    double inv_radius_a;
    s->b = random_grain(r, dim, radius, &s->im_b, &s->kim_b);
    random_vector(r, dim, speed, s->b.v);
    random_spin(r, dim, log_uniform(r, 1e-2, 1e2) * speed / radius, s->b.w);
    random_vector(r, dim, 1.0, n);
    random_partner(r, s, speed, &inv_radius_a);
    s->full = model_make(n, &s->a, &s->b);
    random_law(r, &s->law, radius, speed, speed / (s->im_a + s->im_b));
    fill_contact(s, inv_radius_a);
}

/// (p, T) as six numbers.
static void gather(int dim, const double* p, const double* torque, double* z)
{
    for (int k = 0; k < 6; k++) z[k] = 0.0;
    for (int k = 0; k < dim; k++) z[k] = p[k];
    if (dim == 2) {
        z[5] = torque[0];
    } else {
        memcpy(z + 3, torque, 3 * sizeof(double));
    }
}

static void solve_sample(const sample* s, double* z)
{
    double p[3] = {0.0, 0.0, 0.0}, torque[3] = {0.0, 0.0, 0.0};
    compound_solve(&s->problem, p, torque);
    gather(s->law.dim, p, torque, z);
}

// ---- tests -------------------------------------------------------------------------------------

static void solutions_satisfy_the_law(void** state)
{
    (void)state;
    rng r = rng_make(31, 1, 0);
    const int count = test_count(100000, 5000);
    for (int dim = 2; dim <= 3; dim++) {
        for (int with = 0; with < PARTNERS; with++) {
            model_cases seen = {0};
            double worst = 0.0;
            for (int i = 0; i < count; i++) {
                sample s;
                double z[6];
                random_sample(&r, dim, (partner)with, &s);
                solve_sample(&s, z);
                model_count_case(&s.full, &s.law, z, &seen);
                worst = fmax(worst, model_violation(&s.full, &s.law, z));
            }
            model_check_cases(&seen, dim, partner_name[with], count);
            check_below("violation of the law", worst, TOLERANCE, WHY);
        }
    }
}

static void solutions_equal_the_dense_ones(void** state)
{
    (void)state;
    rng r = rng_make(31, 2, 0);
    const int count = test_count(10000, 1000);
    for (int dim = 2; dim <= 3; dim++) {
        for (int with = 0; with < MOBILE_WALL; with++) {
            double worst = 0.0;
            for (int i = 0; i < count; i++) {
                sample s;
                double z[6], dense[6];
                random_sample(&r, dim, (partner)with, &s);
                solve_sample(&s, z);
                assert_true(model_solve(&s.full, &s.law, dense));
                worst = fmax(worst, model_difference(&s.full, &s.law, z, dense));
            }
            printf("%dD, %s\n", dim, partner_name[with]);
            check_below("difference from the dense solution", worst, TOLERANCE, WHY);
        }
    }
}

/// The same through a problem's rows, with any present impulses: taking the contact's own effect
/// out of the motion and asking the laws gives the solution of the free motion.
static void rows_of_a_problem_give_the_same(void** state)
{
    (void)state;
    rng r = rng_make(31, 3, 0);
    for (int dim = 2; dim <= 3; dim++) {
        const int stride = problem_stride(dim), spin_dim = dim == 2 ? 1 : 3;
        double worst = 0.0;
        for (int i = 0; i < test_count(20000, 1000); i++) {
            sample s;
            random_sample(&r, dim, (partner)rng_below(&r, PARTNERS), &s);
            problem p = {0};
            const problem_size one = {
                .rows = 2, .contacts = 1, .blocks = 1, .compound = 1, .mobile = 1};
            assert_int_equal(problem_reset(&p, dim, &one), TALUS_OK);
            p.rows = 2, p.count = 1, p.compound_count = 1;
            const model_body* body[2] = {&s.a, &s.b};
            const double im[2] = {s.im_a, s.im_b}, kim[2] = {s.kim_a, s.kim_b};
            for (int k = 0; k < 2; k++) {
                double* row = p.free + k * stride;
                vec_copy(dim, row, body[k]->v);
                row[row_im(dim)] = im[k];
                row[row_kim(dim)] = kim[k];
                for (int j = 0; j < spin_dim; j++) {
                    row[row_w(dim) + j] = body[k]->radius * body[k]->w[dim == 2 ? 2 : j];
                }
            }
            double* row = p.contact;
            vec_copy(dim, row, s.full.n);
            row[contact_mn(dim)] = 1.0 / s.problem.wn;
            row[contact_mt(dim)] = 1.0 / s.problem.wt;
            row[contact_bias(dim)] = s.law.bias;
            row[contact_mu(dim)] = s.law.mu;
            p.pair[0] = 0, p.pair[1] = 1, p.compound[0] = 0;
            p.block[0] = s.with == MOBILE_WALL ? 0 : -1;
            if (s.with == MOBILE_WALL) { // a is the wall, which does not turn
                p.mobile_count = 1;
                for (int k = 0; k < block_width(dim); k++) p.blocks[k] = 0.0;
                for (int k = 0; k < dim * dim; k++) {
                    p.blocks[k] = s.S[k];
                    p.mobility[k] = s.a.mobility[k / dim][k % dim];
                }
                for (int k = 0; k < dim; k++) { // the ball's arm: n x w
                    double w[3] = {0.0, 0.0, 0.0}, v[3];
                    w[dim == 2 ? 2 : k] = 1.0;
                    vec_cross(v, s.full.n, w);
                    for (int j = 0; j < dim && k < spin_dim; j++) {
                        p.blocks[block_arm_b(dim) + j * spin_dim + k] = v[j];
                    }
                }
            }
            p.compound_turns[0].used = false;
            double present[3], turn[3], u[3], solved[3], torque[3] = {0.0, 0.0, 0.0}, z[6], same[6];
            double size = model_norm(s.u) / s.problem.wt;
            random_vector(&r, dim, size, present);
            random_spin(&r, dim, size * s.b.radius, turn);
            p.compound_rows[0] = s.contact;
            for (int k = 0; k < spin_dim; k++)
                p.compound_rows[0].torque[k] = turn[dim == 2 ? 2 : k];
            vec_copy(dim, row + contact_p(dim), present);
            problem_refresh(&p);
            problem_velocity(&p, 0, u);
            problem_solve_alone(&p, 0, u, solved, torque);
            gather(dim, solved, torque, z);
            solve_sample(&s, same);
            worst = fmax(worst, fmax(model_difference(&s.full, &s.law, z, same),
                                     model_violation(&s.full, &s.law, z)));
            problem_free(&p);
        }
        printf("%dD\n", dim);
        check_below("difference and violation", worst, TOLERANCE, WHY);
    }
}

/// Bounds of BUW 1.41-1.45 by number: exponents, reduced radius, no torque without a force.
static void bounds_have_their_exponents(void** state)
{
    (void)state;
    const double h = 1e-3, star = 0.3, N = 7.0, k = 0.02;
    struct {
        int dim;
        talus_rolling_kind kind;
        double torque;
    } const expected[] = {{2, TALUS_ROLLING_LENGTH, k * N},
                          {3, TALUS_ROLLING_LENGTH, k * N},
                          {2, TALUS_ROLLING_RADIUS, k * star * N},
                          {3, TALUS_ROLLING_RADIUS, k * star * N},
                          {2, TALUS_ROLLING_HERTZ, k * sqrt(star * N) * N},
                          {3, TALUS_ROLLING_HERTZ, k * cbrt(star * N) * N}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        rolling_bound b = rolling_bound_of(expected[i].dim, expected[i].kind, k, star);
        check_close("bound of the torque", rolling_limit(&b, N * h, h), expected[i].torque * h,
                    16 * DBL_EPSILON * expected[i].torque * h, "a few roundings");
        assert_true(rolling_limit(&b, 0.0, h) == 0.0);
        assert_true(rolling_limit(&b, -N * h, h) == 0.0);
        if (expected[i].kind != TALUS_ROLLING_HERTZ) continue;
        double exponent = expected[i].dim == 2 ? 1.5 : 4.0 / 3.0;
        check_close("a thousandfold force",
                    log(rolling_limit(&b, 1e3 * N * h, h) / rolling_limit(&b, N * h, h)),
                    exponent * log(1e3), 1e-13, "rounding of logarithms of about 10");
    }
}

/// Impulse bounds times h do not depend on h: the torque of the Hertz law is a force law.
static void solutions_do_not_depend_on_how_a_force_is_cut_into_steps(void** state)
{
    (void)state;
    rng r = rng_make(31, 4, 0);
    double worst = 0.0;
    for (int i = 0; i < test_count(20000, 1000); i++) {
        sample s;
        double z[6], half[6];
        random_sample(&r, 2 + (int)rng_below(&r, 2), (partner)rng_below(&r, MOBILE_WALL), &s);
        solve_sample(&s, z);
        // Half of the step, half of all velocities and of the bond: half of the impulses.
        s.contact.h *= 0.5, s.contact.bond *= 0.5, s.problem.bias *= 0.5;
        for (int k = 0; k < 3; k++) s.contact.slip[k] *= 0.5, s.u[k] *= 0.5, s.spin[k] *= 0.5;
        solve_sample(&s, half);
        for (int k = 0; k < 6; k++) half[k] *= 2.0;
        worst = fmax(worst, model_difference(&s.full, &s.law, z, half));
    }
    check_below("difference of twice half a step", worst, 1e-14,
                "halves are exact but for pow(N, 1/3), which is not to half a unit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_satisfy_the_law),
        cmocka_unit_test(solutions_equal_the_dense_ones),
        cmocka_unit_test(rows_of_a_problem_give_the_same),
        cmocka_unit_test(bounds_have_their_exponents),
        cmocka_unit_test(solutions_do_not_depend_on_how_a_force_is_cut_into_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
