/// What a solve is asked for when it is left to the step (rigid/stop.c), and the flow by which the
/// step is judged (rigid/residual.c), on a disk that slides: there everything is known.
#include "support.h"

#include "rigid/residual.h"
#include "rigid/stop.h"

#include <string.h>

static const double MU = 0.3;

/// A disk of mass 1 on a floor that moves along: it arrives with the velocity (slip, -fall)
/// relative to the floor, and `impulse` (tangential, normal) acts on it. Everything is turned by an
/// angle and carried along by a common velocity.
static void disk_on_floor(problem* p, double slip, double fall, const double* impulse, double angle,
                          double common)
{
    const problem_size size = {.rows = 2, .contacts = 1};
    const double c = cos(angle), s = sin(angle), kim = 2.0;
    assert_int_equal(problem_reset(p, 2, &size), TALUS_OK);
    p->rows = 2;
    p->count = 1;
    memset(p->free, 0, sizeof(double) * 2 * (size_t)problem_stride(2));
    p->free[0] = c * slip + s * fall + common;
    p->free[1] = s * slip - c * fall + common;
    p->free[row_im(2)] = 1.0;
    p->free[row_kim(2)] = kim;
    p->free[problem_stride(2)] = p->free[problem_stride(2) + 1] = common;
    p->pair[0] = 1;
    p->pair[1] = 0;
    p->curve[0] = p->curve[1] = 0;
    memset(p->contact, 0, sizeof(double) * (size_t)problem_width(2));
    p->contact[0] = -s;
    p->contact[1] = c;
    p->contact[contact_mn(2)] = 1.0;
    p->contact[contact_mt(2)] = 1.0 / (1.0 + kim);
    p->contact[contact_mu(2)] = MU;
    p->contact[contact_p(2)] = c * impulse[0] - s * impulse[1];
    p->contact[contact_p(2) + 1] = s * impulse[0] + c * impulse[1];
    problem_refresh(p);
}

static double flow_of(double slip, double fall, const double* impulse, double angle, double common)
{
    problem p = {0};
    disk_on_floor(&p, slip, fall, impulse, angle, common);
    const double flow = residual_measure(&p, 1.0, 1).flow;
    problem_free(&p);
    return flow;
}

/// Of a disk that slides: friction takes mu p times the slip that is left, and the contact changes
/// the velocity along the normal by p, along the tangent at the contact by 3 mu p.
static void test_flow_of_a_sliding_disk(void** state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const double slip = 1.0 + 3.0 * i, fall = 0.5, p = fall;
        const double exact[2] = {-MU * p, p};
        const double left = slip - 3.0 * MU * p;
        const double expected = MU * p * left / (p * p + 3.0 * MU * MU * p * p);
        check_close("flow", flow_of(slip, fall, exact, 0.0, 0.0), expected, 1e-13, "rounding");
        check_close("turned and carried along", flow_of(slip, fall, exact, 0.7, 10.0), expected,
                    1e-12, "rounding of velocities 10 times as large");
    }
}

/// A disk that is only stopped does not flow, and what an error of the velocity passes for is not
/// more than the error.
static void test_no_flow_at_rest(void** state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const double error = 0.05 * i, part[2] = {0.0, 1.0 - error};
        const double flow = flow_of(0.0, 1.0, part, 0.3, 1.0);
        check_below("flow", flow, error / (1.0 - error) + 1e-15,
                    "(V_free - V).M V over |V - V_free|^2 with V = error times V_free");
    }
}

static void test_tolerance_follows_the_flow(void** state)
{
    (void)state;
    talus_solver_def options = talus_solver_default();
    solve_request request = {.options = &options};
    const residual_report rest = {.flow = 1e-4}, creep = {.flow = 0.05}, flow = {.flow = 1.0};
    check_close("nothing seen", solve_tolerance(&request, NULL), 0.01, 0.0, "1 %");
    check_close("at rest", solve_tolerance(&request, &rest), 0.01, 1e-6, "half the flow, squared");
    check_close("creep", solve_tolerance(&request, &creep), hypot(0.01, 0.025), 1e-16,
                "the rule; rounding");
    check_close("in flow", solve_tolerance(&request, &flow), 0.1, 0.0, "10 %");
    request.strictness = 4.0;
    check_close("stricter", solve_tolerance(&request, &flow), 0.025, 0.0, "a quarter");
    request.strictness = 0.0;
    options.tolerance = 0.03;
    check_close("given", solve_tolerance(&request, &flow), 0.03, 0.0, "taken as it is");
    options.tolerance = 0.0;
    options.stop = TALUS_STOP_RESIDUAL;
    check_close("another rule", solve_tolerance(&request, &flow), 0.01, 0.0, "its fixed default");
}

/// The solver says what it was asked for.
static void test_result_says_its_tolerance(void** state)
{
    (void)state;
    talus_solver_def options = talus_solver_default();
    const solve_request request = {.options = &options, .h = 1.0, .size = 1.0};
    const double nothing[2] = {0.0, 0.0};
    for (int slides = 0; slides < 2; slides++) {
        problem p = {0};
        solve_workspace ws = {0};
        solve_result result;
        disk_on_floor(&p, slides ? 10.0 : 0.0, 1.0, nothing, 0.0, 0.0);
        assert_int_equal(auto_solver.solve(&p, &request, &ws, &result), TALUS_OK);
        assert_true(result.converged);
        check_close("tolerance", result.tolerance, slides ? 0.1 : 0.01, 1e-12, "flow, rest");
        solve_workspace_free(&ws);
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flow_of_a_sliding_disk),
        cmocka_unit_test(test_no_flow_at_rest),
        cmocka_unit_test(test_tolerance_follows_the_flow),
        cmocka_unit_test(test_result_says_its_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
