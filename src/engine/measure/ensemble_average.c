/// What the solutions of an ensemble have in common: mean forces, stress, histogram, and spreads.
///
/// The stress is that of measure/stress.c without its kinetic part. V is the caller's, or the box
/// around the loaded grains, with the cell's length along periodic axes.
#include "measure/ensemble.h"
#include "measure/stress.h"

#include <math.h>
#include <string.h>

static const double BIN = 1.0 / TALUS_ENSEMBLE_BINS_PER_MEAN;

static double share(double part2, double whole2)
{
    return whole2 > 0.0 ? sqrt(part2 / whole2) : 0.0;
}

static const double* force_of(const talus_ensemble* e, int i, int64_t c)
{
    return e->force + ((int64_t)i * e->contacts + c) * e->dim;
}

// ---- forces ------------------------------------------------------------------------------------

static void average_forces(talus_ensemble* e)
{
    for (int i = 0; i < e->samples; i++) {
        for (int64_t c = 0; c < e->contacts && e->sample[i].verified; c++) {
            vec_add_scaled(e->dim, e->mean + c * e->dim, 1.0 / e->verified, force_of(e, i, c));
        }
    }
    double spread2 = 0.0, mean2 = 0.0;
    for (int64_t c = 0; c < e->contacts; c++) {
        double sum = 0.0;
        for (int i = 0; i < e->samples; i++) {
            if (!e->sample[i].verified) continue;
            double off[3];
            vec_sub(e->dim, off, force_of(e, i, c), e->mean + c * e->dim);
            sum += vec_dot(e->dim, off, off);
        }
        e->spread[c] = sqrt(sum / e->verified);
        spread2 += sum / e->verified;
        mean2 += vec_dot(e->dim, e->mean + c * e->dim, e->mean + c * e->dim);
    }
    e->force_change = share(spread2, mean2);
}

void ensemble_mark_loaded(const talus_ensemble* e, uint8_t* loaded)
{
    double sum = 0.0;
    for (int64_t c = 0; c < e->contacts; c++) sum += vec_norm(e->dim, e->mean + c * e->dim);
    // The mean over all contacts, open ones too, is the smaller one.
    const double least = e->contacts > 0 ? ENSEMBLE_LOADED * sum / (double)e->contacts : 0.0;
    for (int64_t c = 0; c < e->contacts; c++) {
        loaded[c] = vec_norm(e->dim, e->mean + c * e->dim) > least;
    }
}

/// Count, mean and maximum of a sample's forces above the threshold.
static void describe_sample(talus_ensemble* e, int i)
{
    talus_ensemble_sample* s = &e->sample[i];
    double all = 0.0, sum = 0.0;
    for (int64_t c = 0; c < e->contacts; c++) all += vec_norm(e->dim, force_of(e, i, c));
    const double least = e->contacts > 0 ? ENSEMBLE_LOADED * all / (double)e->contacts : 0.0;
    for (int64_t c = 0; c < e->contacts; c++) {
        double size = vec_norm(e->dim, force_of(e, i, c));
        if (size <= least) continue;
        s->loaded++;
        sum += size;
        if (size > s->max_force) s->max_force = size;
    }
    s->mean_force = s->loaded > 0 ? sum / (double)s->loaded : 0.0;

    double* histogram = e->histogram + (int64_t)i * TALUS_ENSEMBLE_BINS;
    for (int64_t c = 0; c < e->contacts; c++) {
        double size = vec_norm(e->dim, force_of(e, i, c));
        if (size <= least) continue;
        double bin = size / s->mean_force / BIN;
        int k = bin < TALUS_ENSEMBLE_BINS ? (int)bin : TALUS_ENSEMBLE_BINS - 1;
        histogram[k] += 1.0 / (BIN * (double)s->loaded);
    }
}

// ---- stress ------------------------------------------------------------------------------------

static void extend_box(const talus_world* w, int32_t row, double* low, double* high)
{
    if (contact_is_free(&w->state.grains, row))
        measure_box_stretch(&w->state.grains, row, low, high);
}

/// Volume around the grains that carry a force in any sample.
static void set_volume(const ensemble_task* task, talus_ensemble* e)
{
    const talus_world* w = task->world;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    e->volume_given = task->def->volume > 0.0;
    e->volume = task->def->volume;
    if (e->volume_given) return;
    for (int64_t c = 0; c < e->contacts; c++) {
        if (!(vec_norm(e->dim, e->mean + c * e->dim) > 0.0)) continue;
        extend_box(w, task->list->a_row[c], low, high);
        extend_box(w, task->list->b_row[c], low, high);
    }
    e->volume = 1.0;
    for (int k = 0; k < e->dim; k++) {
        e->volume_cell[k] = w->state.cell.periodic[k];
        double length = e->volume_cell[k] ? w->state.cell.length[k] : high[k] - low[k];
        e->volume *= length > 0.0 ? length : 0.0;
    }
}

static void average_stress(talus_ensemble* e)
{
    double spread2 = 0.0, mean2 = 0.0;
    for (int k = 0; k < 9; k++) {
        double sum = 0.0;
        for (int i = 0; i < e->samples; i++) {
            if (e->sample[i].verified) e->stress_mean[k] += e->sample[i].stress[k] / e->verified;
        }
        for (int i = 0; i < e->samples; i++) {
            double off = e->sample[i].stress[k] - e->stress_mean[k];
            sum += e->sample[i].verified ? off * off : 0.0;
        }
        e->stress_spread[k] = sqrt(sum / e->verified);
        spread2 += sum / e->verified;
        mean2 += e->stress_mean[k] * e->stress_mean[k];
    }
    e->stress_change = share(spread2, mean2);
}

// ---- histogram ---------------------------------------------------------------------------------

static void average_histograms(talus_ensemble* e)
{
    for (int i = 0; i < e->samples; i++) {
        const double* row = e->histogram + (int64_t)i * TALUS_ENSEMBLE_BINS;
        for (int k = 0; k < TALUS_ENSEMBLE_BINS && e->sample[i].verified; k++) {
            e->histogram_mean[k] += row[k] / e->verified;
        }
    }
    for (int i = 0; i < e->samples; i++) {
        const double* row = e->histogram + (int64_t)i * TALUS_ENSEMBLE_BINS;
        double distance = 0.0;
        for (int k = 0; k < TALUS_ENSEMBLE_BINS && e->sample[i].verified; k++) {
            double off = row[k] - e->histogram_mean[k];
            e->histogram_spread[k] += off * off / e->verified;
            distance += off * BIN;
            e->histogram_distance = fmax(e->histogram_distance, fabs(distance));
        }
    }
    for (int k = 0; k < TALUS_ENSEMBLE_BINS; k++) {
        e->histogram_spread[k] = sqrt(e->histogram_spread[k]);
    }
}

// ---- by kind of start, velocities --------------------------------------------------------------

static bool is_from(const talus_ensemble* e, int i, unsigned start)
{
    return e->sample[i].verified && e->sample[i].start == start;
}

/// Relative spread of the forces, or else of the stress, over the verified samples of one start; 0
/// if it has one.
static double change_of(const talus_ensemble* e, unsigned start, bool forces)
{
    const int64_t length = forces ? e->contacts * e->dim : 9;
    double part2 = 0.0, whole2 = 0.0;
    int count = 0;
    for (int i = 0; i < e->samples; i++) count += is_from(e, i, start);
    for (int64_t k = 0; k < length && count > 1; k++) {
        double mean = 0.0, sum = 0.0;
        for (int i = 0; i < e->samples; i++) {
            const double* x = forces ? force_of(e, i, 0) : e->sample[i].stress;
            if (is_from(e, i, start)) mean += x[k] / count;
        }
        for (int i = 0; i < e->samples; i++) {
            const double* x = forces ? force_of(e, i, 0) : e->sample[i].stress;
            if (is_from(e, i, start)) sum += (x[k] - mean) * (x[k] - mean);
        }
        part2 += sum / count;
        whole2 += mean * mean;
    }
    return share(part2, whole2);
}

/// Momenta before the step and differences of those after it, against the impulses.
static void compare_momenta(const ensemble_task* task, talus_ensemble* e)
{
    const grains* g = &task->world->state.grains;
    double impulse2 = 0.0, before2 = 0.0, spread2 = 0.0;
    for (int64_t k = 0; k < e->contacts * e->dim; k++) {
        double impulse = e->mean[k] * task->def->step;
        impulse2 += impulse * impulse;
    }
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE) continue;
        const double* v = g->velocity + i * g->dim;
        before2 += g->mass[i] * g->mass[i] * vec_dot(g->dim, v, v);
        spread2 += g->mass[i] * g->mass[i] * task->velocity2[i] / e->verified;
    }
    e->inertia = share(before2, impulse2);
    e->velocity_change = share(spread2, impulse2);
}

void ensemble_average(const ensemble_task* task, talus_ensemble* e)
{
    if (e->verified == 0) return;
    average_forces(e);
    set_volume(task, e);
    for (int i = 0; i < e->samples; i++) {
        describe_sample(e, i);
        for (int64_t c = 0; c < e->contacts && e->volume > 0.0; c++) {
            stress_add(task->world, task->list, c, force_of(e, i, c), e->volume,
                       e->sample[i].stress);
        }
    }
    average_stress(e);
    average_histograms(e);
    for (int k = 0; k < TALUS_START_COUNT; k++) {
        e->force_change_of[k] = change_of(e, 1u << k, true);
        e->stress_change_of[k] = change_of(e, 1u << k, false);
    }
    compare_momenta(task, e);
}
