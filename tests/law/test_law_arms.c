/// Contacts of solids with torques, bonds and tangential restitution: the law holds to rounding.
///
/// The 6x6 block W of a contact (3x3 in 2D) is that of two bodies with lever arms in any direction
/// and any inertia tensor, or a random symmetric positive definite matrix. The impulse and torque
/// that law/compound.h returns are put into the motion W z + free and every condition is checked by
/// tests/support/rolling_model.h, relative to the sizes of the terms. For balls the matrices must
/// give what the law in numbers gives.
#include "random.h"
#include "rolling_model.h"

#include "base/vec.h"
#include "law/compound.h"

static const double TOLERANCE = 1e-10;
#define WHY "rounding (1e-16) times the ratio of a slender body's responses (1e5)"

/// One contact, for the model and for the law.
typedef struct sample {
    model full;
    model_law law;
    compound_contact contact;
    compound_arms arms;
    double S[9], u[3], spin[3];
    double wn, wt; ///< of balls
} sample;

static void random_vector(rng* r, int dim, double size, double* v)
{
    double length;
    do {
        for (int k = 0; k < 3; k++) v[k] = k < dim ? rng_normal(r) : 0.0;
        length = model_norm(v);
    } while (length < 1e-3);
    for (int k = 0; k < 3; k++) v[k] *= size / length;
}

// ---- blocks ------------------------------------------------------------------------------------

/// Does component j of z exist in this dimension?
static bool exists(int dim, int j)
{
    return dim == 3 || j < 2 || j == 5;
}

/// Add a body with inverse mass `im`, inverse inertia tensor J and the arm x to the block: an
/// impulse p and a torque T turn it by J (x × p + T).
static void add_body(sample* s, double im, double J[3][3], const double* x)
{
    for (int j = 0; j < 6; j++) {
        if (!exists(s->law.dim, j)) continue;
        double p[3] = {0.0}, torque[3] = {0.0}, lever[3], w[3], v[3];
        (j < 3 ? p : torque)[j % 3] = 1.0;
        model_cross(lever, x, p);
        for (int k = 0; k < 3; k++) torque[k] += lever[k];
        for (int k = 0; k < 3; k++) w[k] = model_dot(J[k], torque);
        model_cross(v, w, x);
        for (int i = 0; i < 6; i++) {
            if (!exists(s->law.dim, i)) continue;
            s->full.W[i][j] += i < 3 ? im * p[i] + v[i] : w[i - 3];
        }
    }
}

/// A box of random sides, one in two slender, touched on it or on a light horn of it.
static void add_box(rng* r, sample* s, double size)
{
    const int dim = s->law.dim;
    double axes[3][3] = {{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, side[3], J[3][3];
    double arm[3];
    const double slender = rng_uniform(r) < 0.5 ? 0.2 : 0.01;
    for (int k = 0; k < 3; k++) side[k] = size * log_uniform(r, slender, 1.0);
    double mass = side[0] * side[1] * (dim == 3 ? side[2] : 1.0) * log_uniform(r, 0.3, 3.0);
    if (dim == 3) {
        double first[3];
        random_vector(r, 3, 1.0, first);
        vec_frame(3, first, axes);
    }
    memset(J, 0, sizeof J);
    for (int k = 0; k < 3; k++) {
        if (dim == 2 && k > 0) continue; // turns about z only
        double a = side[(k + 1) % 3], b = side[(k + 2) % 3];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                J[i][j] += axes[k][i] * axes[k][j] * 12.0 / (mass * (a * a + b * b));
            }
        }
    }
    random_vector(r, dim, size * uniform(r, 0.1, 0.8), arm);
    add_body(s, 1.0 / mass, J, arm);
}

/// A ball of radius R whose centre is on the side `sign` of the contact.
static void add_ball(rng* r, sample* s, double R, double sign)
{
    const int dim = s->law.dim;
    double mass = pow(R, dim) * log_uniform(r, 0.1, 10.0), J[3][3] = {{0.0}}, arm[3];
    double inertia = (dim == 2 ? 0.5 : 0.4) * mass * R * R, kim = R * R / inertia;
    for (int k = dim == 2 ? 2 : 0; k < 3; k++) J[k][k] = 1.0 / inertia;
    for (int k = 0; k < 3; k++) arm[k] = -sign * R * s->full.n[k];
    add_body(s, 1.0 / mass, J, arm);
    s->wn += 1.0 / mass;
    s->wt += 1.0 / mass + kim;
    s->contact.coupling += sign * kim / R;
    s->contact.response += kim / (R * R);
}

/// Any symmetric positive definite block: eigenvalues within 1 : 1000 on random axes, torques in a
/// random unit of length.
static void add_random(rng* r, sample* s)
{
    double length = log_uniform(r, 1e-2, 1e2);
    for (int k = 0; k < 12; k++) {
        double z[6], weight = log_uniform(r, 1e-3, 1.0);
        for (int i = 0; i < 6; i++) {
            z[i] = exists(s->law.dim, i) ? rng_normal(r) * (i < 3 ? 1.0 : 1.0 / length) : 0.0;
        }
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++) s->full.W[i][j] += weight * z[i] * z[j];
        }
    }
}

// ---- samples -----------------------------------------------------------------------------------

typedef enum bodies { BOXES, BOX_AND_FIXED, ANY_MATRIX, BALLS, BODIES } bodies;
static const char* const bodies_name[BODIES] = {"two boxes", "a box on a fixed body",
                                                "any positive definite block", "two balls"};

static void random_law(rng* r, model_law* law, double radius, double speed, double impulse)
{
    double kind = rng_uniform(r);
    law->h = log_uniform(r, 1e-5, 1e-1);
    law->bias = kind < 0.5 ? 0.0 : (kind < 0.9 ? 1.0 : -1.0) * speed * rng_uniform(r);
    law->mu = rng_uniform(r) < 0.1 ? 0.0 : log_uniform(r, 1e-2, 3.0);
    law->bond = rng_uniform(r) < 0.5 ? 0.0 : impulse * log_uniform(r, 1e-2, 1e1);
    law->kind = (talus_rolling_kind)rng_below(r, 3);
    law->reduced_radius = radius;
    double unit = law->kind == TALUS_ROLLING_LENGTH ? radius : 1.0;
    if (law->kind == TALUS_ROLLING_HERTZ) {
        unit = radius / pow(radius * impulse / law->h, law->dim == 2 ? 0.5 : 1.0 / 3.0);
    }
    law->rolling = rng_uniform(r) < 0.2 ? 0.0 : unit * log_uniform(r, 1e-3, 10.0);
    law->torsion = rng_uniform(r) < 0.2 ? 0.0 : unit * log_uniform(r, 1e-3, 10.0);
    if (rng_uniform(r) < 0.2) random_vector(r, law->dim, speed * rng_uniform(r), law->slip);
}

/// The law's view of the block and of the free motion.
static void fill_contact(sample* s)
{
    const int dim = s->law.dim, turns = dim == 2 ? 1 : 3, spin = dim == 2 ? 5 : 3;
    s->contact.h = s->law.h;
    s->contact.bond = s->law.bond;
    s->contact.sliding_mu = s->law.mu;
    s->contact.rolling = rolling_bound_of(dim, s->law.kind, s->law.rolling, s->law.reduced_radius);
    s->contact.torsion = rolling_bound_of(dim, s->law.kind, s->law.torsion, s->law.reduced_radius);
    memcpy(s->contact.slip, s->law.slip, sizeof s->law.slip);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) s->S[i * dim + j] = s->full.W[i][j];
        s->u[i] = s->full.free[i];
    }
    for (int i = 0; i < turns; i++) {
        for (int j = 0; j < dim; j++) s->arms.coupling[i * dim + j] = s->full.W[spin + i][j];
        for (int j = 0; j < turns; j++) {
            s->arms.response[i * turns + j] = s->full.W[spin + i][spin + j];
        }
        s->spin[i] = s->full.free[spin + i];
    }
}

static void random_sample(rng* r, int dim, bodies with, sample* s)
{
    *s = (sample){.law.dim = dim};
    double size = log_uniform(r, 1e-2, 1.0), speed = log_uniform(r, 1e-3, 1e3), mean = 0.0;
    random_vector(r, dim, 1.0, s->full.n);
    if (with == ANY_MATRIX) {
        add_random(r, s);
    } else if (with == BALLS) {
        add_ball(r, s, size * log_uniform(r, 1e-1, 1e1), -1.0);
        add_ball(r, s, size, 1.0);
    } else {
        add_box(r, s, size);
        if (with == BOXES) add_box(r, s, size * log_uniform(r, 0.3, 3.0));
    }
    for (int k = 0; k < dim; k++) mean += s->full.W[k][k] / dim;
    const double length = sqrt(mean / s->full.W[5][5]);
    random_vector(r, dim, speed, s->full.free);
    random_vector(r, 3, speed / length * log_uniform(r, 1e-2, 1e1), s->full.free + 3);
    if (dim == 2) s->full.free[3] = s->full.free[4] = 0.0;
    random_law(r, &s->law, length, speed, speed / mean);
    fill_contact(s);
}

/// (p, T) as six numbers, by the matrices or by the numbers of a ball.
static void solve_sample(const sample* s, bool matrices, double* z)
{
    const int dim = s->law.dim;
    compound_problem problem = {.dim = dim,
                                .n = s->full.n,
                                .wn = s->wn,
                                .wt = s->wt,
                                .S = matrices ? s->S : NULL,
                                .arms = matrices ? &s->arms : NULL,
                                .bias = s->law.bias,
                                .mu = s->law.mu,
                                .contact = &s->contact,
                                .u = s->u,
                                .spin = s->spin};
    double p[3] = {0.0, 0.0, 0.0}, torque[3] = {0.0, 0.0, 0.0};
    compound_solve(&problem, p, torque);
    for (int k = 0; k < 3; k++) {
        z[k] = p[k];
        z[3 + k] = dim == 3 ? torque[k] : k == 2 ? torque[0] : 0.0;
    }
}

// ---- tests -------------------------------------------------------------------------------------

static void solutions_satisfy_the_law(void** state)
{
    (void)state;
    rng r = rng_make(41, 1, 0);
    const int count = test_count(150000, 3000);
    for (int dim = 2; dim <= 3; dim++) {
        for (int with = 0; with < BODIES; with++) {
            model_cases seen = {0};
            double worst = 0.0;
            for (int i = 0; i < count; i++) {
                sample s;
                double z[6];
                random_sample(&r, dim, (bodies)with, &s);
                solve_sample(&s, true, z);
                assert_true(vec_finite(6, z));
                model_count_case(&s.full, &s.law, z, &seen);
                worst = fmax(worst, model_violation(&s.full, &s.law, z));
            }
            model_check_cases(&seen, dim, bodies_name[with], count);
            check_below("violation of the law", worst, TOLERANCE, WHY);
        }
    }
}

static void matrices_of_balls_give_the_law_in_numbers(void** state)
{
    (void)state;
    rng r = rng_make(41, 2, 0);
    for (int dim = 2; dim <= 3; dim++) {
        double worst = 0.0;
        for (int i = 0; i < test_count(100000, 3000); i++) {
            sample s;
            double matrices[6], numbers[6];
            random_sample(&r, dim, BALLS, &s);
            solve_sample(&s, true, matrices);
            solve_sample(&s, false, numbers);
            assert_true(vec_finite(6, matrices) && vec_finite(6, numbers));
            worst = fmax(worst, model_difference(&s.full, &s.law, numbers, matrices));
        }
        printf("%dD\n", dim);
        check_below("difference of impulses and torques", worst, 1e-11,
                    "rounding (1e-16) times the ratio of the responses of two balls (1e4)");
    }
}

/// Without rolling and torsion the torques are zero and only the force part matters.
static void nothing_turns_without_resistance(void** state)
{
    (void)state;
    rng r = rng_make(41, 3, 0);
    for (int i = 0; i < test_count(20000, 1000); i++) {
        sample s;
        double z[6], same[6];
        random_sample(&r, 2 + (int)rng_below(&r, 2), ANY_MATRIX, &s);
        s.contact.rolling.coefficient = s.contact.torsion.coefficient = 0.0;
        solve_sample(&s, true, z);
        for (int k = 0; k < 9; k++) s.arms.coupling[k] = s.arms.response[k] = 0.0;
        solve_sample(&s, true, same);
        for (int k = 0; k < 3; k++) assert_true(z[k] == same[k] && z[3 + k] == 0.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_satisfy_the_law),
        cmocka_unit_test(matrices_of_balls_give_the_law_in_numbers),
        cmocka_unit_test(nothing_turns_without_resistance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
