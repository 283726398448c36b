/// How long contacts of the soft method last, and how short its steps must be.
///
/// A pair of reduced mass m on a spring k with dashpot nu = 2 beta sqrt(k m) is an oscillator:
/// t_c = pi/sqrt(k/m - (nu/2m)^2) = pi sqrt(m/k)/sqrt(1 - beta^2) (PLMH 10), t_s = 2 pi sqrt(M/k)
/// with M the lightest grain (PLMH 9). Spheres that obey Hertz have the stiffness 2 E* sqrt(r d) at
/// an overlap d, taken here as HERTZ_OVERLAP of the radius.
///
/// What the paper found: with Cundall's elongation results depend on the step above 1e-3 t_c, and
/// above 1e-4 t_c where grains cannot rotate (PLMH Figs. 6 and 7), far below the usual t_c/5. With
/// the geometric elongation, or without friction, they do not (PLMH Figs. 5 and 9): there the
/// collision itself must be resolved. Measured (docs/soft.md): the relaxation time of the paper's
/// two discs is right to 1 % up to 0.2 t_c (gear5), 0.1 t_c (gear3) and 0.08 t_c (verlet,
/// leapfrog), and grains in a packing oscillate up to twice as fast as a pair; the mean velocity
/// after impacts with a restitution of 0.5 is right to 1 % up to 0.05 t_c with all four.
#include "base/error.h"
#include "body/materials.h"
#include "soft/integrator.h"
#include "soft/law.h"
#include "world/world.h"

#include <float.h>
#include <math.h>

/// Bounds in t_c: Cundall's elongation, the same without rotation, and otherwise.
static const double CUNDALL = 1e-3, CUNDALL_LOCKED = 1e-4, RESOLVED = 0.05;
/// A grain in a packing is held by several springs at once: its fastest oscillation has up to so
/// many times the square of the frequency of a pair's.
static const double CROWD = 4.0;
/// Part of the stable step that is taken at most.
static const double SAFE = 0.8;
static const double HERTZ_OVERLAP = 0.01;

/// The lightest free grain of a material, and how large it is.
typedef struct lightest {
    double mass, radius;
} lightest;

static void find_lightest(const grains* g, int material, lightest* out)
{
    *out = (lightest){INFINITY, 0.0};
    for (int64_t i = 0; i < g->count; i++) {
        if (g->material[i] != material || g->inv_mass[i] == 0.0 || g->mass[i] >= out->mass)
            continue;
        *out = (lightest){g->mass[i], 0.5 * grain_diameter(g, i)};
    }
}

static bool is_used_by_walls(const walls* w, int material)
{
    for (int64_t i = 0; i < w->count; i++) {
        if (w->present[i] && w->record[i].material == material) return true;
    }
    return false;
}

/// Stiffness of a pair at small overlaps.
static double stiffness_of(const talus_world* w, const talus_pair_def* pair, double radius)
{
    if (w->def.soft.law != TALUS_SOFT_HERTZ) return pair->stiffness;
    const double star = pair->young / (2.0 * (1.0 - pair->poisson * pair->poisson));
    return 2.0 * star * radius * sqrt(HERTZ_OVERLAP);
}

/// Take a pair into account: grains of two materials, or (m_b infinite) a grain and a wall.
static void meet(const talus_world* w, const talus_pair_def* pair, lightest a, lightest b,
                 talus_soft_times* out, double* damping)
{
    const double mass = isinf(b.mass) ? a.mass : a.mass * b.mass / (a.mass + b.mass);
    const double radius = isinf(b.mass) ? a.radius : a.radius * b.radius / (a.radius + b.radius);
    const double k = stiffness_of(w, pair, radius);
    if (!(k > 0.0) || isinf(mass)) return;
    const double log_e = log(pair->restitution);
    const double beta = pair->restitution > 0.0 ? -log_e / sqrt(M_PI * M_PI + log_e * log_e) : 1.0;
    // Near beta = 1 a contact hardly ends; the spring's own time is what must be resolved.
    const double contact = M_PI * sqrt(mass / k) / fmax(sqrt(1.0 - beta * beta), 0.5);
    const double oscillation = 2.0 * M_PI * sqrt(fmin(a.mass, b.mass) / k);
    if (oscillation < out->oscillation) out->oscillation = oscillation;
    if (contact >= out->contact) return;
    out->contact = contact;
    out->stiffness = k;
    out->mass = mass;
    *damping = 2.0 * beta * sqrt(k / mass);
}

static void bound_steps(const talus_world* w, double damping, talus_soft_times* out)
{
    static const integrator* const integrators[] = {&gear5_integrator, &gear3_integrator,
                                                    &verlet_integrator, &leapfrog_integrator};
    const integrator* method = integrators[w->def.soft.integrator];
    double friction = 0.0;
    bool rotates = false;
    for (int i = 0; i < w->materials.count * w->materials.count; i++) {
        friction = fmax(friction, w->materials.pair[i].friction);
    }
    for (int64_t i = 0; i < w->grains.count; i++) {
        rotates = rotates || w->grains.spin_mobility[i] > 0.0;
    }
    // (omega h/stable)^2 + r h/stable_rate = 1
    const double a = CROWD * out->stiffness / out->mass / (method->stable * method->stable);
    const double b = CROWD * damping / method->stable_rate;
    out->stable = 2.0 / (b + sqrt(b * b + 4.0 * a));
    double part = RESOLVED;
    out->reason = "the collision itself must be resolved";
    if (friction > 0.0 && w->def.soft.elongation == TALUS_ELONGATION_CUNDALL) {
        part = rotates ? CUNDALL : CUNDALL_LOCKED;
        out->reason = rotates
                          ? "with Cundall's elongation relaxation depends on larger steps (PLMH)"
                          : "with Cundall's elongation and grains that cannot rotate relaxation "
                            "depends on larger steps (PLMH)";
    }
    out->bound = part * out->contact;
    if (SAFE * out->stable < out->bound) {
        out->bound = SAFE * out->stable;
        out->reason =
            "the integrator would be unstable: strong damping (small restitution) asks for "
            "short steps, of Gear's method most of all";
    }
    out->chosen = out->bound;
}

talus_status talus_world_soft_times(const talus_world* world, talus_soft_times* out,
                                    talus_error* error)
{
    const materials* m = &world->materials;
    double damping = 0.0;
    *out = (talus_soft_times){.contact = INFINITY, .oscillation = INFINITY};
    for (int a = 0; a < m->count; a++) {
        lightest of_a, of_b;
        find_lightest(&world->grains, a, &of_a);
        if (isinf(of_a.mass)) continue;
        for (int b = 0; b < m->count; b++) {
            find_lightest(&world->grains, b, &of_b);
            if (!isinf(of_b.mass)) {
                meet(world, materials_pair(m, a, b), of_a, of_b, out, &damping);
            }
            if (!is_used_by_walls(&world->walls, b)) continue;
            meet(world, materials_pair(m, a, b), of_a, (lightest){INFINITY, INFINITY}, out,
                 &damping);
        }
    }
    if (isinf(out->contact)) {
        return error_set(error, TALUS_ERR_STATE,
                         "there is no pair of free grains with a stiffness: no contact time");
    }
    bound_steps(world, damping, out);
    return TALUS_OK;
}
