/// The certificate of a step: exact at rest, blind to nothing, never below the truth where it is a
/// theorem.
#include "solve_model.h"

#include "rigid/audit.h"
#include "rigid/certificate.h"
#include "rigid/residual.h"
#include "rigid/witness.h"

/// A problem, solved by plain sweeps in order, and what is certified of it.
typedef struct judged {
    problem p;
    certificate_work work;
    certificate found;
    solve_result solved;
} judged;

static solve_request sweeps_request(talus_solver_def* o, int sweeps)
{
    *o = talus_solver_default();
    o->method = TALUS_SOLVER_SWEEPS;
    o->order = TALUS_ORDER_FORWARD;
    o->stop = TALUS_STOP_SWEEPS;
    o->max_sweeps = sweeps;
    return (solve_request){.options = o, .h = 1.0, .seed = 1};
}

static void sweep_and_judge(const model* m, int sweeps, judged* out)
{
    talus_solver_def o;
    const solve_request request = sweeps_request(&o, sweeps);
    solve_workspace ws = {0};
    memset(out, 0, sizeof *out);
    build(m, &out->p);
    assert_int_equal(solver_for(&o)->solve(&out->p, &request, &ws, &out->solved), TALUS_OK);
    assert_int_equal(certificate_find(&out->work, &out->p, 1, &out->found), TALUS_OK);
    solve_workspace_free(&ws);
}

static void judged_free(judged* j)
{
    problem_free(&j->p);
    certificate_free(&j->work);
}

/// ||V - W||_M over the rows of a cluster, -1: over all.
static double distance(const problem* p, const double* rows, const certificate_work* work,
                       int64_t cluster)
{
    const int stride = problem_stride(p->dim);
    double sum = 0.0;
    for (int64_t i = 0; i < p->rows; i++) {
        if (cluster >= 0 && work->clusters.of_row[i] != cluster) continue;
        sum += problem_distance2(p, i, p->body + i * stride, rows + i * stride);
    }
    return sqrt(sum);
}

/// A stack on the floor: the answer is standstill, V* = 0, so that ||V|| / ||V - V_free|| is the
/// error, and the certificate is that number. On a floor that moves sideways it is the same.
static void a_stack_at_rest(void** state)
{
    (void)state;
    static model m;
    for (int moving = 0; moving < 2; moving++) {
        for (int sweeps = 1; sweeps <= 1000; sweeps *= 3) {
            judged j;
            stack_model(2, 12, 0.3, &m);
            for (int i = 0; moving && i < m.balls; i++) m.v[i][0] = 2.0;
            if (moving) m.t[0].surface[0] = 2.0;
            sweep_and_judge(&m, sweeps, &j);
            double speed2 = 0.0, change2 = 0.0;
            for (int i = 0; i < m.balls; i++) {
                const double v = j.p.body[i * problem_stride(2) + 1];
                speed2 += v * v;
                change2 += (v + 1.0) * (v + 1.0);
            }
            const double error = sqrt(speed2 / change2);
            if (error >= 0.9) {
                assert_true(isinf(j.found.bound));
            } else {
                check_close("error of a stack", j.found.bound, error, 1e-7 + 0.01 * error * error,
                            "the root of rounding in the gap, MAY_SLIDE of certificate.c");
            }
            assert_int_equal(j.found.cluster_bodies, 12);
            assert_false(j.found.sliding);
            judged_free(&j);
        }
    }
}

/// Two stacks that do not touch, one a billion times heavier and solved: it hides nothing.
static void a_heavy_neighbour(void** state)
{
    (void)state;
    static model m;
    judged light, both;
    stack_model(2, 20, 0.3, &m);
    sweep_and_judge(&m, 90, &light);
    m.balls = m.touches = 21;
    set_ball(&m, 20, 0.5, 1e9);
    m.v[20][1] = -1.0;
    m.t[20] = (touch){.a = FIXED_WALL, .b = 20, .n = {0.0, 1.0, 0.0}, .mu = 0.3};
    sweep_and_judge(&m, 90, &both);
    assert_true(light.found.bound > 0.8 && light.found.bound < 1.0);
    check_close("beside a mass of 1e9", both.found.bound, light.found.bound, 1e-9, "rounding");
    assert_int_equal(both.found.cluster_bodies, 20);
    assert_true(both.found.row >= 0 && both.found.row < 20);
    assert_int_equal(both.work.clusters.count, 2);
    judged_free(&light);
    judged_free(&both);
}

/// Without friction the bound is a theorem but for what violated contacts are charged: random
/// problems with unequal masses, a mobile wall and walls that move, against 20 000 sweeps.
static void never_below_the_truth(void** state)
{
    (void)state;
    static model m;
    int answered = 0, tried = 0;
    double sharpest = INFINITY;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        rng r = rng_make(seed, 18, 0);
        judged truth;
        random_model(&r, seed % 2 ? 2 : 3, 20, 40, seed % 3 == 0, &m);
        for (int c = 0; c < m.touches; c++) {
            m.t[c].mu = 0.0;
            memset(m.t[c].p, 0, sizeof m.t[c].p);
        }
        sweep_and_judge(&m, 20000, &truth);
        tried++;
        if (truth.solved.residual < 1e-10) {
            answered++;
            for (int sweeps = 1; sweeps <= 243; sweeps *= 3) {
                judged j;
                sweep_and_judge(&m, sweeps, &j);
                for (int64_t k = 0; k < j.work.clusters.count; k++) {
                    const cluster_certificate* of = &j.work.of[k];
                    const double error =
                        distance(&j.p, truth.p.body, &j.work, k) / fmax(of->scale, DBL_MIN);
                    if (error < 1e-7) continue;
                    assert_true(error <= of->bound);
                    sharpest = fmin(sharpest, of->bound / error);
                }
                judged_free(&j);
            }
        }
        judged_free(&truth);
    }
    assert_true(answered > tried / 2);
    assert_true(sharpest < 10.0); // a bound, not a safe excuse; these bodies have no known places,
                                  // and a row of 20 is charged for violations
}

/// Impulses that no law allows are not certified.
static void nonsense_is_not_certified(void** state)
{
    (void)state;
    static model m;
    judged j;
    stack_model(2, 5, 0.3, &m);
    sweep_and_judge(&m, 100, &j);
    assert_true(j.found.bound < 0.1);
    double* p = j.p.contact + contact_p(2);
    p[1] = -1.0; // a pull
    problem_refresh(&j.p);
    assert_int_equal(certificate_find(&j.work, &j.p, 1, &j.found), TALUS_OK);
    assert_true(j.found.bound >= 1.0);
    p[1] = 5.0;
    p[0] = 4.0; // beyond friction
    problem_refresh(&j.p);
    assert_int_equal(certificate_find(&j.work, &j.p, 1, &j.found), TALUS_OK);
    assert_true(j.found.bound >= 1.0);
    judged_free(&j);
}

/// A stack on a floor that runs away under it, after a few sweeps: contacts slide, and the bound is
/// an assumption. A witness turns it into the distance to the exact motion, found here by sweeps to
/// the end. The problem is the same afterwards.
static void a_witness_knows_the_distance(void** state)
{
    (void)state;
    static model m;
    judged j, exact;
    witness_work witnesses = {0};
    certificate found;
    stack_model(2, 6, 0.3, &m);
    m.t[0].surface[0] = 50.0; // far more than friction can give to the lowest ball
    sweep_and_judge(&m, 10, &j);
    sweep_and_judge(&m, 100000, &exact);
    assert_true(residual_natural(&exact.p) < 1e-12);
    assert_true(j.work.of[0].sliding > 0 && j.work.of[0].assumed);
    const size_t bytes = sizeof(double) * (size_t)(j.p.rows * problem_stride(2));
    double* before = malloc(bytes);
    assert_non_null(before);
    memcpy(before, j.p.body, bytes);
    assert_int_equal(witness_claims(&j.work, &j.p, 1, &witnesses, &found), TALUS_OK);
    const double error = distance(&j.p, exact.p.body, &j.work, 0) / j.work.of[0].scale;
    assert_true(error > 0.01); // there is something to see
    // 1.1 is SEVERAL of witness.c; the rest is what is certified of the witness itself.
    assert_true(found.bound >= 1.1 * error && found.bound <= 1.2 * error);
    assert_true(j.work.of[0].witnessed);
    assert_false(found.sliding); // it is for Coulomb's law itself
    assert_memory_equal(before, j.p.body, bytes);
    free(before);
    witness_free(&witnesses);
    judged_free(&j);
    judged_free(&exact);
}

/// An audit knows the truth, and leaves the problem as it was.
static void an_audit_tells_the_truth(void** state)
{
    (void)state;
    static model m;
    for (int lie = 0; lie < 2; lie++) {
        judged j;
        solve_workspace ws = {0};
        talus_solver_def o;
        audit_result found;
        stack_model(2, 20, 0.3, &m);
        sweep_and_judge(&m, 400, &j);
        const size_t bytes = sizeof(double) * (size_t)(j.p.rows * problem_stride(2));
        double* before = malloc(bytes);
        assert_non_null(before);
        memcpy(before, j.p.body, bytes);
        if (lie) j.work.of[0].bound *= 0.25;
        solve_request request = sweeps_request(&o, 400);
        assert_int_equal(audit_solution(&j.p, &j.work, &request, 0.01, 20 * 2000, &ws, &found),
                         TALUS_OK);
        assert_true(found.answered && found.updates > 0 && found.updates <= 20 * 2000);
        assert_true(found.judged == 20 && found.of == 20 && found.largest == 20);
        check_close("true error over claim", found.ratio, lie ? 4.0 : 1.0, 0.01,
                    "a hundredth of the tolerance, relative to an error of some per cent");
        assert_memory_equal(before, j.p.body, bytes);
        assert_int_equal(audit_solution(&j.p, &j.work, &request, 0.01, 20, &ws, &found), TALUS_OK);
        assert_false(found.answered);  // one sweep is not enough
        j.work.of[0].bound = INFINITY; // nothing is claimed, and so nothing judged
        assert_int_equal(audit_solution(&j.p, &j.work, &request, 0.01, 20 * 2000, &ws, &found),
                         TALUS_OK);
        assert_true(found.judged == 0 && found.of == 20 && found.largest == 0);
        free(before);
        solve_workspace_free(&ws);
        judged_free(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_at_rest),
        cmocka_unit_test(a_heavy_neighbour),
        cmocka_unit_test(never_below_the_truth),
        cmocka_unit_test(nonsense_is_not_certified),
        cmocka_unit_test(a_witness_knows_the_distance),
        cmocka_unit_test(an_audit_tells_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
