/// Packings whose piston rings.
#include "ring.h"

#include "chain.h"
#include <math.h>

static talus_status lid_height(paper* p, const ring_packing* in, double* height)
{
    talus_wall_state lid;
    TRY(talus_world_wall(in->world, in->lid, &lid, &p->error));
    *height = lid.position[1];
    return TALUS_OK;
}

/// Change the force on the piston by a factor.
static talus_status press(paper* p, ring_packing* in, double factor)
{
    in->pressure *= factor;
    return packing_press(p, &in->def, in->world, in->pressure);
}

/// Take velocities away until nothing moves, with the sweeps that the world has.
static talus_status relax(paper* p, ring_packing* in)
{
    enum { MOST = 3000 };
    const double still = 1e-20 * in->pressure * packing_width(&in->def) * in->height;
    talus_step_result result = {.kinetic_energy = INFINITY};
    for (int s = 0; s < MOST && result.kinetic_energy > still; s++) {
        packing_slow(in->world, 0.96);
        TRY(talus_world_step(in->world, in->h, &result, &p->error));
    }
    return TALUS_OK;
}

static talus_status set_sweeps(paper* p, ring_packing* in, int sweeps)
{
    talus_solver_def solver = chain_sweeps(sweeps, TALUS_ORDER_RANDOM);
    return talus_world_set_solver(in->world, &solver, &p->error);
}

double ring_wave_under(double mass_ratio)
{
    double low = 0, high = 0.5 * M_PI;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (middle * tan(middle) < mass_ratio) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Fit the wave where it is alone: overtones, the next of which dies nine times as fast, need a
/// period and a half; five tau later nothing is left.
static talus_status fit_ring(paper* p, ring* r)
{
    // A guess: omega from the first two times at which the piston passes where it ends, tau from
    // it.
    const double end = r->x[r->count - 1];
    double crossing[2] = {1, 2};
    int found = 0;
    for (int64_t i = 1; i < r->count && found < 2; i++) {
        if ((r->x[i - 1] - end) * (r->x[i] - end) < 0) crossing[found++] = r->t[i];
    }
    r->wave.omega = M_PI / fmax(crossing[1] - crossing[0], 2);
    r->wave.tau = 2 / (r->wave.omega * r->wave.omega);
    for (int round = 0; round < 3; round++) {
        int64_t last = r->count - 12;
        int64_t from = (int64_t)(1.5 * 2 * M_PI / r->wave.omega);
        r->from = from < last ? from : last;
        int64_t to = r->from + 12 + (int64_t)(5 * r->wave.tau);
        r->to = to < r->count ? to : r->count;
        if (!fit_damped_wave(r->to - r->from, r->t + r->from, r->x + r->from, &r->wave)) {
            return paper_fail(p, "no wave could be fitted for N_I = %d", r->sweeps);
        }
    }
    return TALUS_OK;
}

talus_status ring_watch(paper* p, ring_packing* in, int sweeps, double rise, ring* r)
{
    // -ln f of a chain as long as the packing is high: a guess at the packing's.
    const double kh = ring_wave_under((double)in->def.grains / in->def.lid_mass);
    const double kd = kh * in->diameter / in->height, loss = chain_q_random() * sweeps * kd * kd;
    double start, now;
    *r = (ring){.sweeps = sweeps, .count = 20 + (int64_t)(15 / sqrt(loss) + 8 / loss)};
    r->t = paper_alloc(p, (size_t)r->count, sizeof *r->t);
    r->x = paper_alloc(p, (size_t)r->count, sizeof *r->x);
    if (!r->t || !r->x) return p->error.status;
    TRY(set_sweeps(p, in, sweeps));
    TRY(lid_height(p, in, &start));
    TRY(press(p, in, 1 + rise));
    for (int64_t i = 0; i < r->count; i++) {
        talus_step_result result;
        TRY(talus_world_step(in->world, in->h, &result, &p->error));
        TRY(lid_height(p, in, &now));
        r->sweeps_made += (double)result.sweeps / (double)r->count;
        r->t[i] = (double)(i + 1);
        r->x[i] = (now - start) / in->diameter;
    }
    return relax(p, in);
}

talus_status ring_play(paper* p, ring_packing* in, int sweeps, double rise, ring* r)
{
    TRY(ring_watch(p, in, sweeps, rise, r));
    return fit_ring(p, r);
}

talus_status ring_prepare(paper* p, ring_packing* in, int sweeps, double rise)
{
    TRY(lid_height(p, in, &in->height));
    TRY(set_sweeps(p, in, sweeps));
    TRY(relax(p, in));
    TRY(press(p, in, 1 + rise));
    TRY(relax(p, in));
    return lid_height(p, in, &in->height);
}

double ring_loss_of_omega(const ring* r)
{
    return -2 * log(cos(r->wave.omega));
}

double ring_loss_of_tau(const ring* r)
{
    return 2 / r->wave.tau;
}
