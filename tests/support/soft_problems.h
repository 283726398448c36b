/// Smooth problems x'' = a(x, x') of one number with known solutions, and runs of an integrator on
/// them, for the tests of the soft method's integrators.
#ifndef TALUS_TESTS_SOFT_PROBLEMS_H
#define TALUS_TESTS_SOFT_PROBLEMS_H

#include "soft/integrator.h"
#include "soft/start.h"

#include <math.h>
#include <stddef.h>

typedef struct problem {
    const char* name;
    double damping; ///< b of the oscillators
    double from, to;
    double (*acceleration)(const struct problem* p, double x, double v);
    /// x and its first five derivatives at a time.
    void (*solution)(const struct problem* p, double t, double* out);
} problem;

/// x'' = -x - 2 b x': x = exp(-b t) cos(w t) from its maximum's side, w^2 = 1 - b^2.
static double oscillator_acceleration(const problem* p, double x, double v)
{
    return -x - 2.0 * p->damping * v;
}
static void oscillator_solution(const problem* p, double t, double* out)
{
    const double b = p->damping, w = sqrt(1.0 - b * b), size = exp(-b * t);
    out[0] = size * cos(w * t);
    out[1] = size * (-b * cos(w * t) - w * sin(w * t));
    for (int k = 2; k < 6; k++) out[k] = -out[k - 2] - 2.0 * b * out[k - 1];
}

/// x'' = x - 2 x^3: x = 1/cosh(t), nonlinear, without velocities.
static double bump_acceleration(const problem* p, double x, double v)
{
    (void)p, (void)v;
    return x - 2.0 * x * x * x;
}
static void bump_solution(const problem* p, double t, double* out)
{
    (void)p;
    const double x = 1.0 / cosh(t), v = -x * tanh(t), slope = 1.0 - 6.0 * x * x;
    out[0] = x;
    out[1] = v;
    out[2] = x - 2.0 * x * x * x;
    out[3] = slope * v;
    out[4] = slope * out[2] - 12.0 * x * v * v;
    out[5] = slope * out[3] - 36.0 * x * v * out[2] - 12.0 * v * v * v;
}

/// x = log(2 + q) of a damped oscillator q: x'' = -(1 - 2 exp(-x)) - 2 b x' - x'^2, nonlinear in
/// positions and velocities. Derivatives from those of x' (2 + q) = q' by Leibniz' rule.
static double log_acceleration(const problem* p, double x, double v)
{
    return -(1.0 - 2.0 * exp(-x)) - 2.0 * p->damping * v - v * v;
}
static void log_solution(const problem* p, double t, double* out)
{
    double q[6];
    oscillator_solution(p, t, q);
    out[0] = log(2.0 + q[0]);
    for (int n = 0; n < 5; n++) {
        double sum = q[n + 1], choose = 1.0;
        for (int j = 1; j <= n; j++) {
            choose *= (double)(n + 1 - j) / j;
            sum -= choose * q[j] * out[n + 1 - j];
        }
        out[n + 1] = sum / (2.0 + q[0]);
    }
}

/// Where the derivatives at the beginning come from.
typedef enum begin { BEGIN_EXACT, BEGIN_FOUND, BEGIN_ZERO } begin;

/// One number with its derivatives: value[k] is the derivative of order k.
typedef struct motion {
    const problem* p;
    double value[6];
    coordinates c;
} motion;

static void motion_bind(motion* m, const integrator* kind)
{
    m->c = (coordinates){.count = 1, .x = &m->value[0], .v = &m->value[1]};
    for (int k = 0; k < kind->kept; k++) m->c.d[k] = &m->value[k + 2];
}

static talus_status motion_evaluate(void* user, double time, double* acceleration)
{
    const motion* m = user;
    (void)time;
    *acceleration = m->p->acceleration(m->p, m->value[0], m->value[1]);
    return TALUS_OK;
}

static void motion_begin(motion* m, const integrator* kind, const problem* p, begin how, double h)
{
    m->p = p;
    motion_bind(m, kind);
    p->solution(p, p->from, m->value);
    if (how == BEGIN_EXACT) return;
    for (int k = 3; k < 6; k++) m->value[k] = 0.0;
    const start_forces forces = {.user = m, .evaluate = motion_evaluate};
    if (how == BEGIN_FOUND) start_derivatives(kind, &m->c, h, 1, &forces, NULL);
}

static void motion_step(motion* m, const integrator* kind, double h)
{
    double a;
    kind->predict(&m->c, h, 0, m->c.count);
    motion_evaluate(m, 0.0, &a);
    kind->correct(&m->c, &a, h, 0, m->c.count);
}

/// Errors of x and v at the end of a run of `steps` steps.
static void problem_errors(const integrator* kind, const problem* p, begin how, int steps,
                           double error[2])
{
    const double h = (p->to - p->from) / steps;
    motion m;
    double end[6];
    motion_begin(&m, kind, p, how, h);
    for (int s = 0; s < steps; s++) motion_step(&m, kind, h);
    p->solution(p, p->to, end);
    for (int k = 0; k < 2; k++) error[k] = fabs(m.value[k] - end[k]);
}

#endif
