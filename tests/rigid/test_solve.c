/// The solver and the residual against computations that share nothing with them (solve_model.h).
#include "solve_model.h"

// ---- tests of the residual ---------------------------------------------------------------------

static void test_residual_recomputed(void** state)
{
    (void)state;
    rng r = rng_make(11, 1, 0);
    model* m = malloc(sizeof *m);
    static motion now;
    problem p = {0};
    double worst = 0.0, worst_velocity = 0.0;
    for (int i = 0; i < test_count(400, 40); i++) {
        const int dim = 2 + i % 2, stride = problem_stride(dim);
        random_model(&r, dim, 3 + (int)rng_below(&r, 60), 1 + (int)rng_below(&r, 200), i % 4 < 2,
                     m);
        build(m, &p);
        double residual = residual_natural(&p), own = own_residual(m);
        worst = fmax(worst, fabs(residual - own) / own);
        apply_impulses(m, &now);
        for (int b = 0; b < m->balls; b++) { // residual_natural() has refreshed the velocities
            for (int k = 0; k < dim; k++) {
                double scale = 1.0 + fabs(now.v[b][k]);
                worst_velocity =
                    fmax(worst_velocity, fabs(p.body[b * stride + k] - now.v[b][k]) / scale);
            }
            double spin = p.body[b * stride + row_w(dim) + (dim == 2 ? 0 : 2)];
            worst_velocity =
                fmax(worst_velocity, fabs(spin - m->R[b] * now.omega[b][2]) / (1.0 + fabs(spin)));
        }
    }
    problem_free(&p);
    free(m);
    check_below("residual against lever arms, relative", worst, 1e-12,
                "200 impulses added in another order, masses within e^-6..e^6");
    check_below("refreshed velocities against lever arms", worst_velocity, 1e-12, "as above");
}

static void test_residual_does_not_see_units(void** state)
{
    (void)state;
    rng r = rng_make(11, 2, 0);
    model* m = malloc(sizeof *m);
    const double mass = 3.7e-9, length = 2.3e-4, time = 9.1e3;
    problem p = {0};
    double worst = 0.0;
    for (int i = 0; i < 20; i++) {
        random_model(&r, 2 + i % 2, 20, 60, i % 4 < 2, m);
        build(m, &p);
        double before = residual_natural(&p);
        for (int b = 0; b < m->balls; b++) {
            m->m[b] *= mass;
            m->R[b] *= length;
            m->I[b] *= mass * length * length;
            for (int k = 0; k < 3; k++) m->v[b][k] *= length / time, m->omega[b][k] /= time;
        }
        for (int k = 0; k < 3; k++) m->wall_v[k] *= length / time;
        for (int k = 0; k < 9; k++) m->mobility[k] /= mass;
        for (int c = 0; c < m->touches; c++) {
            m->t[c].bias *= length / time;
            for (int k = 0; k < 3; k++) {
                m->t[c].surface[k] *= length / time;
                m->t[c].p[k] *= mass * length / time;
            }
        }
        build(m, &p);
        worst = fmax(worst, fabs(residual_natural(&p) / before - 1.0));
    }
    problem_free(&p);
    free(m);
    check_below("change of the residual with units of mass, length, time", worst, 1e-13,
                "every term scales alike: roundings only");
}

static void test_residual_of_exact_solutions(void** state)
{
    (void)state;
    model* m = malloc(sizeof *m);
    problem p = {0};
    const int count = 20;
    stack_model(3, count, 0.3, m);
    build(m, &p);
    check_close("residual of zero impulses on a stack, only the floor is approached",
                residual_natural(&p), 1.0, 1e-15, "error and scale are the same number");
    for (int c = 0; c < count; c++) m->t[c].p[1] = count - c;
    build(m, &p);
    check_below("residual of the exact stack", residual_natural(&p), 1e-15, "roundings");
    m->t[4].p[1] += 1e-6;
    build(m, &p);
    double impulse = 0.0; // the wrong impulse is felt at its own contact and by half at both sides
    for (int c = 0; c < count; c++) impulse += m->t[c].p[1] * m->t[c].p[1];
    check_close("residual of one wrong impulse", residual_natural(&p),
                1e-6 * sqrt(1.5) / sqrt(impulse), 1e-13,
                "cancellation of 20 against 1e-6: 1e-15 x 20");
    memset(m, 0, sizeof *m);
    m->dim = 2;
    m->balls = 1;
    m->touches = 1;
    set_ball(m, 0, 1.0, 1.0);
    m->t[0] = (touch){.a = FIXED_WALL, .b = 0, .n = {0, 1, 0}};
    build(m, &p);
    check_close("nothing pushes anywhere", residual_natural(&p), 0.0, 0.0, "defined as 0");
    problem_free(&p);
    free(m);
}

// ---- tests of the solver -----------------------------------------------------------------------

/// Solve the n x n system in place by Gauss with pivoting; b holds the result.
static bool dense_solve(int n, double* A, double* b)
{
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int i = c + 1; i < n; i++) {
            if (fabs(A[i * n + c]) > fabs(A[pivot * n + c])) pivot = i;
        }
        if (fabs(A[pivot * n + c]) < 1e-12) return false;
        for (int j = 0; j < n; j++) {
            double swap = A[c * n + j];
            A[c * n + j] = A[pivot * n + j], A[pivot * n + j] = swap;
        }
        double swap = b[c];
        b[c] = b[pivot], b[pivot] = swap;
        for (int i = c + 1; i < n; i++) {
            double f = A[i * n + c] / A[c * n + c];
            for (int j = c; j < n; j++) A[i * n + j] -= f * A[c * n + j];
            b[i] -= f * b[c];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= A[i * n + j] * b[j];
        b[i] /= A[i * n + i];
    }
    return true;
}

/// Frictionless normal impulses by trying every set of closed contacts: u_n + bias = 0 on the set,
/// impulses >= 0 on it, u_n + bias >= 0 off it.
static bool enumerate_contacts(const model* m, double* pn)
{
    static motion now;
    model* probe = malloc(sizeof *probe);
    const int n = m->touches;
    double D[144], free_n[12];
    *probe = *m;
    for (int c = 0; c < n; c++) memset(probe->t[c].p, 0, sizeof probe->t[c].p);
    for (int j = -1; j < n; j++) { // columns of the Delassus matrix from unit impulses
        if (j >= 0) vec_copy(3, probe->t[j].p, m->t[j].n);
        apply_impulses(probe, &now);
        for (int i = 0; i < n; i++) {
            double V[3];
            slip_velocity(probe, &now, &probe->t[i], V);
            double un = vec_dot(3, V, m->t[i].n) + m->t[i].bias;
            if (j < 0) free_n[i] = un;
            if (j >= 0) D[i * n + j] = un - free_n[i];
        }
        if (j >= 0) memset(probe->t[j].p, 0, sizeof probe->t[j].p);
    }
    free(probe);
    for (unsigned set = 0; set < 1u << n; set++) {
        int member[12], size = 0;
        double A[144], b[12];
        for (int i = 0; i < n; i++) {
            if (set >> i & 1u) member[size++] = i;
        }
        for (int i = 0; i < size; i++) {
            b[i] = -free_n[member[i]];
            for (int j = 0; j < size; j++) A[i * size + j] = D[member[i] * n + member[j]];
        }
        if (!dense_solve(size, A, b)) continue;
        bool good = true;
        for (int i = 0; i < n; i++) pn[i] = 0.0;
        for (int i = 0; i < size; i++) good = good && (pn[member[i]] = b[i]) >= -1e-12;
        for (int i = 0; i < n && good; i++) {
            double un = free_n[i];
            for (int j = 0; j < n; j++) un += D[i * n + j] * pn[j];
            good = un >= -1e-10;
        }
        if (good) return true;
    }
    return false;
}

static void test_frictionless_against_enumeration(void** state)
{
    (void)state;
    rng r = rng_make(11, 3, 0);
    model* m = malloc(sizeof *m);
    double worst = 0.0;
    int open = 0, closed = 0;
    for (int i = 0; i < test_count(60, 10); i++) {
        // A bent chain of unequal balls, its lower end at a wall: a positive definite problem.
        const int n = 3 + (int)rng_below(&r, 7);
        stack_model(2 + i % 2, n, 0.0, m);
        for (int b = 0; b < n; b++) {
            set_ball(m, b, 0.5, exp(rng_normal(&r)));
            random_vector(&r, m->dim, 1.0, m->v[b]);
            double tilt[3];
            random_vector(&r, m->dim, 0.5, tilt);
            for (int k = 0; k < 3; k++) m->t[b].n[k] += tilt[k];
            double length = vec_norm(3, m->t[b].n);
            for (int k = 0; k < 3; k++) m->t[b].n[k] /= length;
            m->t[b].bias = 0.3 * rng_uniform(&r);
        }
        double exact[12], scale = 0.0, off = 0.0;
        assert_true(enumerate_contacts(m, exact));
        talus_solver_def o = options(TALUS_ORDER_RANDOM, TALUS_STOP_RESIDUAL, 1e-14, 100000);
        solve_model(m, &o, (uint64_t)i);
        for (int c = 0; c < n; c++) {
            scale = fmax(scale, exact[c]);
            off = fmax(off, fabs(vec_dot(3, m->t[c].p, m->t[c].n) - exact[c]));
            open += exact[c] == 0.0;
            closed += exact[c] > 0.0;
        }
        if (scale > 0.0) worst = fmax(worst, off / scale);
    }
    printf("contacts: %d open, %d closed\n", open, closed);
    assert_true(open > 20 && closed > 20);
    free(m);
    check_below(
        "impulses against enumeration of closed sets", worst, 1e-10,
        "residual 1e-14 times the condition of a chain of 9, (2 x 9/pi)^2 x mass ratio < 1e4");
}

/// Largest velocity difference of two impulse sets, relative to the largest free velocity.
static double velocity_difference(const model* x, const model* y)
{
    static motion a, b;
    apply_impulses(x, &a);
    apply_impulses(y, &b);
    double largest = 0.0, off = 0.0;
    for (int i = 0; i < x->balls; i++) {
        for (int k = 0; k < 3; k++) {
            largest = fmax(largest, fabs(x->v[i][k]));
            off = fmax(off, fabs(a.v[i][k] - b.v[i][k]));
        }
    }
    return off / largest;
}

/// Without friction velocities are unique (strictly convex); with it only nearly so.
static void test_orders_agree(void** state)
{
    (void)state;
    const double friction[2] = {0.0, 0.3};
    model* by[3];
    for (int f = 0; f < 2; f++) {
        for (int o = 0; o < 3; o++) {
            rng r = rng_make(11, 4, 0);
            by[o] = malloc(sizeof *by[o]);
            pile_model(&r, 8, 6, friction[f], by[o]);
            talus_solver_def how =
                options((talus_sweep_order)o, TALUS_STOP_RESIDUAL, 1e-12, 200000);
            solve_result result = solve_model(by[o], &how, 1);
            printf("order %d, mu %g: %lld sweeps\n", o, friction[f], (long long)result.sweeps);
            assert_true(result.converged);
            check_below("own residual", own_residual(by[o]), 1e-12 * 1.01,
                        "the tolerance asked for");
            check_close("solver's residual", result.residual, own_residual(by[o]), 1e-14,
                        "roundings");
        }
        double off = fmax(velocity_difference(by[0], by[1]), velocity_difference(by[0], by[2]));
        check_below("velocities of the three orders differ by", off, f == 0 ? 1e-9 : 1e-2,
                    f == 0 ? "residual 1e-12 times (L/d)^2 = 64, times 10"
                           : "friction leaves solutions 0.5 % apart (docs/theory.md)");
        for (int o = 0; o < 3; o++) free(by[o]);
    }
}

/// The force of a mobile wall on a ball that leans on a floor: the block is full, the law still
/// met.
static void test_mobile_wall_is_solved(void** state)
{
    (void)state;
    rng r = rng_make(11, 5, 0);
    model* m = malloc(sizeof *m);
    double worst = 0.0;
    int converged = 0;
    const int count = test_count(200, 40);
    for (int i = 0; i < count; i++) {
        memset(m, 0, sizeof *m);
        m->dim = 2 + i % 2;
        m->balls = 1;
        m->touches = 2;
        m->has_wall = true;
        set_ball(m, 0, 0.5, exp(rng_normal(&r)));
        random_vector(&r, m->dim, 1.0, m->v[0]);
        m->wall_v[1] = -1.0 - rng_uniform(&r);
        double axis[3] = {0.0, 0.8, 0.0};
        axis[0] = 0.6;
        for (int a = 0; a < m->dim; a++) {
            for (int b = 0; b < m->dim; b++) m->mobility[a * m->dim + b] = axis[a] * axis[b];
        }
        m->t[0] = (touch){.a = FIXED_WALL, .b = 0, .n = {0, 1, 0}, .mu = 0.3};
        double lean = 0.5 * rng_normal(&r), c = 1.0 / sqrt(1.0 + lean * lean);
        m->t[1] = (touch){.a = MOBILE_WALL, .b = 0, .n = {lean * c, -c, 0}, .mu = 0.3};
        talus_solver_def o = options(TALUS_ORDER_RANDOM, TALUS_STOP_RESIDUAL, 1e-11, 20000);
        solve_result result = solve_model(m, &o, (uint64_t)i);
        converged += result.converged;
        if (result.converged) worst = fmax(worst, own_residual(m));
    }
    free(m);
    printf("%d of %d squeezed balls converged\n", converged, count);
    assert_int_equal(converged, count);
    check_below("own residual with a mobile wall", worst, 1.01e-11, "the tolerance asked for");
}

// ---- what a residual is worth ------------------------------------------------------------------

/// Relative error of a stack's impulses.
static double stack_error(const model* m)
{
    double error = 0.0, scale = 0.0;
    for (int c = 0; c < m->touches; c++) {
        double exact = m->touches - c;
        error += pow(m->t[c].p[1] - exact, 2);
        scale += exact * exact;
    }
    return sqrt(error / scale);
}

/// docs/theory.md, "converged". At contact k the map gives e_k = p_k - (p_k-1 + p_k+1)/2, so
/// the slowest mode cos(theta (k - 1/2)), theta = pi/(2N + 1), is seen with weight 1 - cos theta.
/// Random sweeps leave roughness on top of it, which the residual does see.
static void test_residual_is_blind_to_large_scales(void** state)
{
    (void)state;
    const int count = 50;
    model* m = malloc(sizeof *m);
    const double theory = 1.0 / (1.0 - cos(M_PI / (2 * count + 1)));
    for (int order = TALUS_ORDER_RANDOM; order <= TALUS_ORDER_FORWARD; order++) {
        stack_model(2, count, 0.3, m);
        talus_solver_def o = options((talus_sweep_order)order, TALUS_STOP_SWEEPS, 0.0, 4000);
        solve_result result = solve_model(m, &o, 3);
        double ratio = stack_error(m) / result.residual;
        printf("stack of 50, 4000 sweeps: force error %.3g, residual %.3g, ratio/50^2 = %.3f\n",
               stack_error(m), result.residual, ratio / 2500.0);
        if (order == TALUS_ORDER_FORWARD) {
            check_close("force error / residual against the slowest mode", ratio / theory, 1.0, 0.1,
                        "a forward sweep tilts the mode, and the floor contact differs: order 1/N");
        } else {
            check_below("N^2 / (force error / residual)", 2500.0 / ratio, 3.0,
                        "roughness up to twice the mode's own residual; a residual that sees the "
                        "large scale would give 2500");
        }
    }
    free(m);
}

/// A row of balls, the first and last pushed inwards: every exact impulse is 1. The response is
/// tridiag(-1, 2, -1), with modes sin(theta k), theta = pi/(n + 1).
static void row_model(int contacts, model* m)
{
    memset(m, 0, sizeof *m);
    m->dim = 2;
    m->balls = contacts + 1;
    m->touches = contacts;
    for (int i = 0; i <= contacts; i++) set_ball(m, i, 0.5, 1.0);
    for (int i = 0; i < contacts; i++) m->t[i] = (touch){.a = i, .b = i + 1, .n = {1.0, 0.0, 0.0}};
    m->v[0][0] = 1.0;
    m->v[contacts][0] = -1.0;
}

/// Norm of the error of a row's impulses.
static double row_error(const model* m)
{
    double sum = 0.0;
    for (int c = 0; c < m->touches; c++) sum += pow(m->t[c].p[0] - 1.0, 2);
    return sqrt(sum);
}

/// Random sweeps carry force information like diffusion with q = (4 sqrt(e) - 5)/2 (UK), ordered
/// ones with the eigenvalue cos^2(theta) of Gauss-Seidel, q = 1.
static void test_diffusion_constant(void** state)
{
    (void)state;
    const int contacts = 60, warm = 1500, sweeps = 1500;
    const double theta = M_PI / (contacts + 1);
    const double ordered = -2.0 * log(cos(theta)) / (theta * theta);
    model* m = malloc(sizeof *m);
    for (int order = TALUS_ORDER_RANDOM; order <= TALUS_ORDER_FORWARD; order++) {
        const bool random = order == TALUS_ORDER_RANDOM;
        const int runs = random ? 20 : 1;
        double sum = 0.0, squares = 0.0;
        for (int run = 0; run < runs; run++) {
            row_model(contacts, m);
            talus_solver_def o = options((talus_sweep_order)order, TALUS_STOP_SWEEPS, 0.0, warm);
            solve_model(m, &o, (uint64_t)(2 * run));
            double first = row_error(m);
            o.max_sweeps = sweeps;
            solve_model(m, &o, (uint64_t)(2 * run + 1));
            double q = log(first / row_error(m)) / (theta * theta * sweeps);
            sum += q;
            squares += q * q;
        }
        double mean = sum / runs, scatter = sqrt(fmax(0.0, squares / runs - mean * mean));
        printf("q = %.4f, scatter of a run %.4f\n", mean, scatter);
        check_close(random ? "q of random sweeps" : "q of ordered sweeps", mean,
                    random ? 0.5 * (4.0 * sqrt(M_E) - 5.0) : ordered, random ? 0.003 : 1e-4,
                    random ? "20 runs that scatter by 0.001 (4 errors of the mean: 0.001), and "
                             "corrections of order theta^2 = 0.003"
                           : "the second mode is down by exp(-3 theta^2 1500) = 6e-6");
    }
    free(m);
}

// ---- the parallel order -------------------------------------------------------------------------

/// Jacobi's iteration for a row of balls of mass 1, in plain numbers: all contacts from the
/// impulses before the sweep.
static void row_by_hand(const model* m, int sweeps, double* p)
{
    double before[MAX_TOUCHES];
    for (int c = 0; c < m->touches; c++) p[c] = m->t[c].p[0];
    for (int sweep = 0; sweep < sweeps; sweep++) {
        memcpy(before, p, sizeof *p * (size_t)m->touches);
        for (int c = 0; c < m->touches; c++) {
            double left = c > 0 ? before[c - 1] : 0.0;
            double right = c + 1 < m->touches ? before[c + 1] : 0.0;
            p[c] = fmax(0.0, 0.5 * (m->v[c][0] - m->v[c + 1][0] + left + right));
        }
    }
}

static void test_parallel_is_jacobi(void** state)
{
    (void)state;
    model* m = malloc(sizeof *m);
    rng r = rng_make(11, 8, 0);
    double worst = 0.0, p[MAX_TOUCHES];
    int open = 0;
    for (int i = 0; i < 20; i++) {
        const int sweeps = 1 + i;
        row_model(40, m);
        for (int b = 0; b < m->balls; b++) m->v[b][0] += 0.5 * rng_normal(&r);
        row_by_hand(m, sweeps, p);
        talus_solver_def o = options(TALUS_ORDER_PARALLEL, TALUS_STOP_SWEEPS, 0.0, sweeps);
        solve_model(m, &o, 1);
        for (int c = 0; c < m->touches; c++) {
            worst = fmax(worst, fabs(m->t[c].p[0] - p[c]));
            open += p[c] == 0.0;
        }
    }
    free(m);
    assert_true(open > 0); // Signorini's bound was met, too
    check_below("impulses after parallel sweeps against Jacobi's", worst, 1e-13,
                "up to 20 sweeps, impulses of order 1: roundings");
}

/// With a diagonal block the natural map is the one-contact solution: the whole sweep changes the
/// impulses by the residual's error.
static void test_parallel_with_friction(void** state)
{
    (void)state;
    rng r = rng_make(11, 9, 0);
    model *m = malloc(sizeof *m), *after = malloc(sizeof *after);
    double worst = 0.0;
    for (int i = 0; i < 40; i++) {
        random_model(&r, 2 + i % 2, 30, 80, false, m);
        double scale = 0.0, change = 0.0;
        for (int c = 0; c < m->touches; c++) {
            // So large that they are the scale of the residual.
            for (int k = 0; k < 3; k++) m->t[c].p[k] *= 1e6;
            scale += vec_dot(3, m->t[c].p, m->t[c].p);
        }
        *after = *m;
        talus_solver_def o = options(TALUS_ORDER_PARALLEL, TALUS_STOP_SWEEPS, 0.0, 1);
        solve_model(after, &o, 1);
        for (int c = 0; c < m->touches; c++) {
            for (int k = 0; k < 3; k++) change += pow(after->t[c].p[k] - m->t[c].p[k], 2);
        }
        worst = fmax(worst, fabs(sqrt(change / scale) / own_residual(m) - 1.0));
    }
    free(m);
    free(after);
    check_below("change by a parallel sweep against the residual", worst, 1e-12, "roundings");
}

// ---- stopping rules ----------------------------------------------------------------------------

static void test_fixed_sweeps(void** state)
{
    (void)state;
    model* m = malloc(sizeof *m);
    stack_model(2, 10, 0.3, m);
    talus_solver_def o = options(TALUS_ORDER_RANDOM, TALUS_STOP_SWEEPS, 0.0, 17);
    solve_result result = solve_model(m, &o, 1);
    assert_int_equal(result.sweeps, 17);
    assert_int_equal(result.updates, 170);
    assert_true(result.converged);
    check_close("residual reported", result.residual, own_residual(m), 1e-13, "roundings");
    o = options(TALUS_ORDER_RANDOM, TALUS_STOP_RESIDUAL, 1e-12, 17);
    stack_model(2, 10, 0.3, m);
    result = solve_model(m, &o, 1);
    assert_int_equal(result.sweeps, 17);
    assert_false(result.converged);
    m->touches = 0;
    result = solve_model(m, &o, 1);
    assert_true(result.converged && result.sweeps == 0 && result.residual == 0.0);
    free(m);
}

/// Impulses after exactly this many sweeps, from zero, with the seeds of the other runs.
static void after_sweeps(int64_t sweeps, model* m)
{
    rng r = rng_make(11, 6, 0);
    pile_model(&r, 8, 6, 0.3, m);
    talus_solver_def o = options(TALUS_ORDER_RANDOM, TALUS_STOP_SWEEPS, 0.0, (int)sweeps);
    if (sweeps > 0) solve_model(m, &o, 1);
}

/// Contacts that change by more than tolerance |p| + cutoff, and the means of |p|, from x to y.
static int unsettled(const model* x, const model* y, double tolerance, double cutoff,
                     double mean[2])
{
    int count = 0;
    mean[0] = mean[1] = 0.0;
    for (int c = 0; c < x->touches; c++) {
        double change[3];
        vec_sub(3, change, y->t[c].p, x->t[c].p);
        count += vec_norm(3, change) > tolerance * vec_norm(3, y->t[c].p) + cutoff;
        mean[0] += vec_norm(3, x->t[c].p) / x->touches;
        mean[1] += vec_norm(3, y->t[c].p) / x->touches;
    }
    return count;
}

/// The rule holds for the last sweep, recomputed from runs of one, two sweeps fewer, and did not
/// for the sweep before it.
static void test_local_and_global_rules(void** state)
{
    (void)state;
    const double tolerance = 1e-4, cutoff = 1e-5;
    model *last = malloc(sizeof *last), *before = malloc(sizeof *before),
          *earlier = malloc(sizeof *earlier);
    for (int rule = TALUS_STOP_LOCAL; rule <= TALUS_STOP_GLOBAL; rule++) {
        talus_solver_def o = options(TALUS_ORDER_RANDOM, (talus_stop_rule)rule, tolerance, 100000);
        o.cutoff = cutoff;
        after_sweeps(0, last);
        solve_result result = solve_model(last, &o, 1);
        assert_true(result.converged && result.sweeps > 2);
        after_sweeps(result.sweeps - 1, before);
        after_sweeps(result.sweeps - 2, earlier);
        double mean[2], mean_before[2];
        int now = unsettled(before, last, tolerance, cutoff, mean);
        int then = unsettled(earlier, before, tolerance, cutoff, mean_before);
        double change = fabs(mean[1] - mean[0]) / mean[1];
        double change_before = fabs(mean_before[1] - mean_before[0]) / mean_before[1];
        printf(
            "rule %d: %lld sweeps; unsettled %d, before %d; change of the mean %.3g, before %.3g\n",
            rule, (long long)result.sweeps, now, then, change, change_before);
        if (rule == TALUS_STOP_LOCAL) assert_true(now == 0 && then > 0);
        if (rule == TALUS_STOP_GLOBAL)
            assert_true(change <= tolerance && change_before > tolerance);
    }
    free(last);
    free(before);
    free(earlier);
}

/// The same key gives the same bits, another key another path.
static void test_deterministic(void** state)
{
    (void)state;
    model *x = malloc(sizeof *x), *y = malloc(sizeof *y);
    after_sweeps(20, x);
    after_sweeps(20, y);
    assert_memory_equal(x->t, y->t, sizeof x->t);
    rng r = rng_make(11, 6, 0);
    pile_model(&r, 8, 6, 0.3, y);
    talus_solver_def o = options(TALUS_ORDER_RANDOM, TALUS_STOP_SWEEPS, 0.0, 20);
    solve_model(y, &o, 2);
    assert_memory_not_equal(x->t, y->t, sizeof x->t);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_residual_recomputed),
        cmocka_unit_test(test_residual_does_not_see_units),
        cmocka_unit_test(test_residual_of_exact_solutions),
        cmocka_unit_test(test_frictionless_against_enumeration),
        cmocka_unit_test(test_orders_agree),
        cmocka_unit_test(test_mobile_wall_is_solved),
        cmocka_unit_test(test_residual_is_blind_to_large_scales),
        cmocka_unit_test(test_diffusion_constant),
        cmocka_unit_test(test_parallel_is_jacobi),
        cmocka_unit_test(test_parallel_with_friction),
        cmocka_unit_test(test_fixed_sweeps),
        cmocka_unit_test(test_local_and_global_rules),
        cmocka_unit_test(test_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
