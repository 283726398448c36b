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
/// two discs is right to 1 % up to 0.2 t_c (gear5), 0.12 t_c (gear3) and 0.08 t_c (verlet,
/// leapfrog), and grains in a packing oscillate up to twice as fast as a pair; the mean velocity
/// after impacts with a restitution of 0.5 is right to 1 % up to 0.05 t_c with all four.
#include "base/error.h"
#include "base/portable.h"
#include "soft/integrator.h"
#include "soft/law.h"
#include "soft/soft_particles.h"
#include "state/materials.h"

#include <float.h>
#include <math.h>

/// Bounds in t_c: Cundall's elongation, the same without rotation, and otherwise.
static const double CUNDALL = 1e-3, CUNDALL_LOCKED = 1e-4, RESOLVED = 0.05;
/// A grain in a packing is held by several springs at once: its fastest oscillation has up to so
/// many times the square of the frequency of a pair's.
static const double CROWD = 4.0;
static const double HERTZ_OVERLAP = 0.01;
/// Part of the bound of stability that is chosen. Spheres without restitution poured onto a heap
/// (scene heap, first 0.15 to 0.26 s): at the bound kinetic, elastic and dissipated energy and the
/// work done miss each other by 9 %, at half of it by 1.5 %, at a quarter by 0.2 %.
static const double CAREFUL = 0.3;

/// A body that meets others: the lightest of its kind, and how large it is.
typedef struct partner {
    double mass, radius; ///< INFINITY: it does not give way; it is flat
} partner;

static const partner IMMOBILE = {INFINITY, INFINITY};

/// What the times are found from.
typedef struct search {
    const physical_state* state;
    const talus_world_def* options;
    const integrator* method;
    double crowd; ///< CROWD, or fewer where there are fewer free grains
    talus_soft_times* out;
    double* calm; ///< longest step that no oscillation of a packing outgrows
} search;

/// The lightest free grain of a material.
static partner lightest_of(const grains* g, int material)
{
    partner out = IMMOBILE;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->material[i] != material || g->inv_mass[i] == 0.0 || g->mass[i] >= out.mass) continue;
        out = (partner){g->mass[i], 0.5 * grain_diameter(g, i)};
    }
    return out;
}

/// Is there a wall of this material, or a grain that is held?
static bool is_held(const physical_state* state, int material)
{
    const grains* g = &state->grains;
    const walls* w = &state->walls;
    for (int64_t i = 0; i < w->count; i++) {
        if (w->present[i] && w->record[i].material == material) return true;
    }
    for (int64_t i = 0; i < g->count; i++) {
        if (g->material[i] == material && g->inv_mass[i] == 0.0) return true;
    }
    return false;
}

/// Stiffness of a pair at small overlaps.
static double stiffness_of(const search* s, const talus_pair_def* pair, double radius)
{
    if (s->options->soft.law != TALUS_SOFT_HERTZ) return pair->soft.stiffness;
    const double star = pair->soft.young / (2.0 * (1.0 - pair->soft.poisson * pair->soft.poisson));
    return 2.0 * star * radius * sqrt(HERTZ_OVERLAP);
}

/// Longest step with (omega h/limit)^2 + rate h/stable_rate < 1.
static double longest_step(const integrator* method, double limit, double omega2, double rate)
{
    const double a = omega2 / (limit * limit), b = rate / method->stable_rate;
    return 2.0 / (b + sqrt(b * b + 4.0 * a));
}

/// Steps must do for an oscillator of this square of the frequency and this rate of damping, and
/// should do for one that is held by `crowd` such springs.
static void stay_stable(const search* s, double crowd, double omega2, double rate)
{
    const integrator* method = s->method;
    s->out->stable = fmin(s->out->stable, longest_step(method, method->stable, omega2, rate));
    *s->calm = fmin(*s->calm, longest_step(method, method->steady, crowd * omega2, crowd * rate));
}

/// Take a pair into account, of which a is a free grain.
static void meet(const search* s, const talus_pair_def* pair, partner a, partner b)
{
    talus_soft_times* out = s->out;
    const double mass = isinf(b.mass) ? a.mass : a.mass * b.mass / (a.mass + b.mass);
    const double radius = isinf(b.radius) ? a.radius : a.radius * b.radius / (a.radius + b.radius);
    const double k = stiffness_of(s, pair, radius), beta = pair_damping(pair);
    if (!(k > 0.0)) return;
    stay_stable(s, s->crowd, k / mass, 2.0 * beta * sqrt(k / mass));
    // From beta = 1 on a contact hardly ends; the spring's own time is what must be resolved.
    const double contact = M_PI * sqrt(mass / k) / sqrt(fmax(1.0 - beta * beta, 0.25));
    const double oscillation = 2.0 * M_PI * sqrt(fmin(a.mass, b.mass) / k);
    out->oscillation = fmin(out->oscillation, oscillation);
    if (contact >= out->contact) return;
    out->contact = contact;
    out->stiffness = k;
    out->mass = mass;
}

/// A mobile wall may stand on as many grains of this kind as lie side by side in the world.
static void meet_mobile_walls(const search* s, int material, partner grain)
{
    const walls* w = &s->state->walls;
    const double n = (double)s->state->grains.count;
    const double side_by_side =
        s->state->grains.dim == 2 ? sqrt(n) : portable_cbrt(n) * portable_cbrt(n);
    for (int i = 0; i < (int)w->count; i++) {
        if (!w->present[i] || !wall_is_mobile(w, i)) continue;
        const talus_drive_def* drive = &w->record[i].drive;
        const talus_pair_def* pair =
            materials_pair(&s->state->materials, material, w->record[i].material);
        const double k = stiffness_of(s, pair, grain.radius);
        const double rate = 2.0 * pair_damping(pair) * sqrt(k * grain.mass);
        stay_stable(s, 1.0, side_by_side * k / drive->mass,
                    (side_by_side * rate + drive->damping) / drive->mass);
    }
}

/// What the steps must not exceed, and why.
static void bound_steps(const search* s, talus_soft_times* out)
{
    const materials* m = &s->state->materials;
    const grains* g = &s->state->grains;
    bool friction = false, rotates = false;
    for (int i = 0; i < m->count * m->count; i++) friction |= m->pair[i].friction > 0.0;
    for (int64_t i = 0; i < g->count; i++) rotates |= g->spin_mobility[i] > 0.0;
    double part = RESOLVED;
    out->reason = "the collision itself must be resolved";
    if (friction && s->options->soft.elongation == TALUS_ELONGATION_CUNDALL) {
        part = rotates ? CUNDALL : CUNDALL_LOCKED;
        out->reason = rotates
                          ? "with Cundall's elongation relaxation depends on larger steps (PLMH)"
                          : "with Cundall's elongation and grains that cannot rotate relaxation "
                            "depends on larger steps (PLMH)";
    }
    out->bound = part * out->contact;
    if (*s->calm < out->bound) {
        out->bound = *s->calm;
        out->reason = "the integrator would be unstable: strong damping (small restitution), light "
                      "mobile walls or drag ask for short steps, of Gear's method most of all";
    }
    // Where strong damping or light walls decide, a step at the bound is stable, but the work of
    // the dashpots is known to some per cent only: see CAREFUL.
    out->chosen = out->bound == *s->calm ? CAREFUL * out->bound : out->bound;
}

talus_status soft_particles_times(const physical_state* state, const talus_world_def* options,
                                  talus_soft_times* out, talus_error* error)
{
    const grains* g = &state->grains;
    const materials* m = &state->materials;
    *out = (talus_soft_times){.contact = INFINITY, .oscillation = INFINITY, .stable = INFINITY};
    double calm = INFINITY;
    int64_t free = 0;
    for (int64_t i = 0; i < g->count; i++) free += g->inv_mass[i] > 0.0;
    const search s = {.state = state,
                      .options = options,
                      .method = integrator_of(options->soft.integrator),
                      .crowd = fmin(CROWD, (double)free),
                      .out = out,
                      .calm = &calm};
    for (int a = 0; a < m->count; a++) {
        const partner of_a = lightest_of(g, a);
        if (isinf(of_a.mass)) continue;
        if (options->drag > 0.0) stay_stable(&s, 1.0, 0.0, options->drag / of_a.mass);
        meet_mobile_walls(&s, a, of_a);
        for (int b = 0; b < m->count; b++) {
            const partner of_b = lightest_of(g, b);
            if (!isinf(of_b.mass)) meet(&s, materials_pair(m, a, b), of_a, of_b);
            if (is_held(state, b)) meet(&s, materials_pair(m, a, b), of_a, IMMOBILE);
        }
    }
    if (isinf(out->contact)) {
        return error_set(error, TALUS_ERR_STATE,
                         "there is no pair of free grains with a stiffness: no contact time");
    }
    bound_steps(&s, out);
    return TALUS_OK;
}
