/// Stopping rules and warm start seen from outside: each rule stops where its formula says.
///
/// The sweeps are replayed: the same problem stopped after exactly n and n - 1 sweeps gives the
/// forces whose change the rule looked at. Sweeps in the same seeded random order make the replay
/// exact.
#include "physics.h"

enum { GRAINS = 40, MOST = 400 };

/// A small pile, fallen together and at rest, the same every time; the options are for its next
/// step.
static talus_world* make_pile(const talus_solver_def* solver)
{
    talus_world_def def = physics_def(2);
    def.gravity[1] = -9.81;
    def.solver.method = TALUS_SOLVER_SWEEPS;
    def.solver.tolerance = 1e-4;
    def.solver.max_sweeps = 500;
    def.drag = 0.2;
    talus_world* world = physics_world(&def, 0.4);
    physics_container(world, 2, 1.5, 40.0);
    dice d = {9};
    physics_fill(world, 2, GRAINS, 1.5, 0.2, 0.2, &d);
    physics_steps(world, 5e-3, 800);
    talus_error error;
    check_ok(talus_world_set_solver(world, solver, &error), error);
    return world;
}

/// One step of a fresh pile; contact forces go to force [contacts][2].
static talus_step_result one_step(const talus_solver_def* solver, double* force, int64_t* count)
{
    talus_world* world = make_pile(solver);
    talus_step_result result = physics_step(world, 5e-3);
    talus_contacts c = talus_world_contacts(world);
    assert_true(c.count <= MOST);
    if (force) memcpy(force, c.force, sizeof(double) * 2 * (size_t)c.count);
    if (count) *count = c.count;
    talus_world_destroy(world);
    return result;
}

static talus_solver_def cold(talus_stop_rule rule, double tolerance, int max_sweeps)
{
    talus_solver_def solver = talus_solver_default();
    solver.method = TALUS_SOLVER_SWEEPS;
    solver.stop = rule;
    solver.tolerance = tolerance;
    solver.max_sweeps = max_sweeps;
    solver.warm_start = false;
    return solver;
}

static int64_t forces_after(int64_t sweeps, double* force)
{
    int64_t count;
    talus_solver_def solver = cold(TALUS_STOP_SWEEPS, 1e-6, (int)sweeps);
    one_step(&solver, force, &count);
    return count;
}

static void fixed_number_of_sweeps(void** state)
{
    (void)state;
    for (int n = 1; n <= 300; n += 73) {
        talus_solver_def solver = cold(TALUS_STOP_SWEEPS, 1e-6, n);
        talus_step_result r = one_step(&solver, NULL, NULL);
        check_close("sweeps", (double)r.sweeps, n, 0.0, "exactly N_I");
        check_close("updates", (double)r.updates, (double)(n * r.contacts), 0.0,
                    "every contact once a sweep");
        assert_true(r.converged);
    }
}

/// Whether |dF| <= eps |F| + delta at every contact between two replays.
static bool local_rule(const double* now, const double* before, int64_t count, double eps,
                       double delta)
{
    for (int64_t c = 0; c < count; c++) {
        double change = hypot(now[2 * c] - before[2 * c], now[2 * c + 1] - before[2 * c + 1]);
        if (change > eps * hypot(now[2 * c], now[2 * c + 1]) + delta) return false;
    }
    return true;
}

static double mean_force(const double* force, int64_t count)
{
    double sum = 0.0;
    for (int64_t c = 0; c < count; c++) sum += hypot(force[2 * c], force[2 * c + 1]);
    return sum / (double)count;
}

static void local_rule_stops_where_it_says(void** state)
{
    (void)state;
    static double now[2 * MOST], before[2 * MOST], earlier[2 * MOST];
    for (int i = 0; i < 2; i++) {
        talus_solver_def solver = cold(TALUS_STOP_LOCAL, i ? 1e-2 : 1e-4, 100000);
        solver.cutoff = i ? 1e-5 : 1e-3; // newtons; a grain weighs about 1
        talus_step_result r = one_step(&solver, NULL, NULL);
        assert_true(r.converged && r.sweeps > 3);
        int64_t count = forces_after(r.sweeps, now);
        forces_after(r.sweeps - 1, before);
        forces_after(r.sweeps - 2, earlier);
        printf("local rule: %lld sweeps\n", (long long)r.sweeps);
        assert_true(local_rule(now, before, count, solver.tolerance, solver.cutoff));
        assert_false(local_rule(before, earlier, count, solver.tolerance, solver.cutoff));
    }
}

static void global_rule_stops_where_it_says(void** state)
{
    (void)state;
    static double now[2 * MOST], before[2 * MOST], earlier[2 * MOST];
    const double eps = 1e-3;
    talus_solver_def solver = cold(TALUS_STOP_GLOBAL, eps, 100000);
    talus_step_result r = one_step(&solver, NULL, NULL);
    assert_true(r.converged && r.sweeps > 3);
    int64_t count = forces_after(r.sweeps, now);
    forces_after(r.sweeps - 1, before);
    forces_after(r.sweeps - 2, earlier);
    double m[3] = {mean_force(now, count), mean_force(before, count), mean_force(earlier, count)};
    check_below("last change of the mean force", fabs(m[0] - m[1]), eps * m[0], "the rule itself");
    check_below("the change before it was larger", eps * m[1], fabs(m[1] - m[2]),
                "else it would have stopped then");
}

/// The natural-map residual (src/engine/rigid/residual.c), written down again from public data:
/// velocities after the step, normals, gaps and forces. `free` are the velocities without contacts.
static double recompute_residual(const talus_world* world, const double* old_v, double mu,
                                 double drag, double h)
{
    talus_grains g = talus_world_grains(world);
    talus_contacts c = talus_world_contacts(world);
    double error = 0, impulse = 0, stopping = 0;
    for (int64_t i = 0; i < c.count; i++) {
        const double *n = c.normal + 2 * i, t[2] = {-n[1], n[0]};
        double un = 0, ut = 0, free_n = 0, wn = 0, wt = 0;
        for (int side = 0; side < 2; side++) {
            int64_t id = side ? c.b[i] : c.a[i];
            if (id < 0) continue; // the container stands still
            int64_t k = talus_world_grain_index(world, id);
            const double *v = g.velocity + 2 * k, sign = side ? 1 : -1, r = g.radius[k];
            const double free[2] = {old_v[2 * k], old_v[2 * k + 1] - 9.81 * h};
            const double slow = 1 / (1 + h * drag / g.mass[k]);
            un += sign * (v[0] * n[0] + v[1] * n[1]);
            ut += sign * (v[0] * t[0] + v[1] * t[1]) - r * g.spin[k];
            free_n += sign * slow * (free[0] * n[0] + free[1] * n[1]);
            wn += slow / g.mass[k];
            wt += slow / g.mass[k] + r * r / g.inertia[k];
        }
        const double bias = fmax(c.gap[i], 0.0) / h;
        const double pn = h * (c.force[2 * i] * n[0] + c.force[2 * i + 1] * n[1]);
        const double pt = h * (c.force[2 * i] * t[0] + c.force[2 * i + 1] * t[1]);
        const double qn = fmax(0.0, pn - (un + bias) / wn);
        const double qt = fmax(-mu * qn, fmin(mu * qn, pt - ut / wt));
        const double stop = fmax(0.0, -(free_n + bias)) / wn;
        error += (pn - qn) * (pn - qn) + (pt - qt) * (pt - qt);
        impulse += pn * pn + pt * pt;
        stopping += stop * stop;
    }
    return sqrt(error / fmax(impulse, stopping));
}

static void reported_residual_is_the_true_one(void** state)
{
    (void)state;
    const int sweeps[3] = {1, 10, 100};
    double last = INFINITY;
    for (int i = 0; i < 4; i++) {
        talus_solver_def solver = i < 3 ? cold(TALUS_STOP_SWEEPS, 1e-6, sweeps[i])
                                        : cold(TALUS_STOP_RESIDUAL, 1e-5, 100000);
        talus_world* world = make_pile(&solver);
        talus_grains g = talus_world_grains(world);
        double v[2 * GRAINS];
        memcpy(v, g.velocity, sizeof v);
        talus_step_result r = physics_step(world, 5e-3);
        check_close("residual", r.residual, recompute_residual(world, v, 0.4, 0.2, 5e-3),
                    1e-7 * r.residual + 1e-12,
                    "the same formula from public data; roundoff of velocities");
        check_below("residual falls", r.residual, 0.5 * last, "sweeps converge");
        assert_true(r.converged);
        if (i == 3) check_below("residual rule", r.residual, 1e-5, "its tolerance");
        last = r.residual;
        talus_world_destroy(world);
    }
}

static void warm_start_saves_sweeps(void** state)
{
    (void)state;
    talus_solver_def solver = cold(TALUS_STOP_RESIDUAL, 1e-6, 100000);
    int64_t from_cold = one_step(&solver, NULL, NULL).sweeps;
    solver.warm_start = true;
    int64_t from_warm = one_step(&solver, NULL, NULL).sweeps;
    check_below(
        "sweeps from last step's forces", (double)from_warm, 0.5 * (double)from_cold,
        "at rest the forces hardly change; a packing L across needs about (L/d)^2 sweeps cold");
}

/// The three orders solve the same step; a stack has one solution only.
static void orders_agree_on_a_unique_solution(void** state)
{
    (void)state;
    double bottom[3];
    for (int order = 0; order < 3; order++) {
        talus_world_def def = physics_def(3);
        def.gravity[2] = -9.81;
        def.solver.order = (talus_sweep_order)order;
        talus_world* world = physics_world(&def, 0.3);
        talus_wall_id floor_wall = physics_plane(world, "floor", 0, 0, 1);
        for (int i = 0; i < 10; i++) {
            talus_grain_def ball = physics_ball(0.5, 1.0, 0, 0, 0.5 + i);
            physics_add(world, &ball);
        }
        physics_step(world, 1e-3);
        bottom[order] = wall_force(world, floor_wall, 2);
        check_close("weight of ten", bottom[order], -98.1, 1e-13 * 100 * 98.1 + 1e-9,
                    "residual 1e-13 (L/d)^2, and rounding of gaps over h^2");
        talus_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_number_of_sweeps),
        cmocka_unit_test(local_rule_stops_where_it_says),
        cmocka_unit_test(global_rule_stops_where_it_says),
        cmocka_unit_test(reported_residual_is_the_true_one),
        cmocka_unit_test(warm_start_saves_sweeps),
        cmocka_unit_test(orders_agree_on_a_unique_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
