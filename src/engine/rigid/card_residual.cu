/// The sums of residual.c on a card. Each contact's terms are worked out by a thread; then they are
/// added up one after the other, in the order in which the CPU does it: the parts of the contacts
/// and the seven sums side by side, and so the cells.
#include "card/phases.h"

CARD_HEADERS
#include "rigid/packed/unpack.h"
#include "rigid/residual.h"
#include "rigid/residual_jobs.h"
#include "rigid/residual_terms.h"
CARD_HEADERS_END

// ---- from the packed problem -------------------------------------------------------------------

CARD_INLINE void show_impulse(const card_show_job* job, const int dim, int64_t at)
{
    const packed_problem* packed = &job->packed;
    const int64_t batch = at / PACKED_LANES, lane = at % PACKED_LANES, c = packed->source[at];
    if (c < 0) return;
    double* row = job->p.contact + c * problem_width(dim);
    unpack_impulse(dim, row, packed->values[PACKED_IMPULSE] + batch * dim * PACKED_LANES + lane,
                   row + contact_p(dim));
}

CARD_INLINE void show_row(const card_show_job* job, const int dim, int64_t r)
{
    const int32_t body = job->packed.body_of[r];
    if (body < 0) return;
    unpack_row(&job->packed, &job->p, dim, r, job->p.body + (int64_t)body * problem_stride(dim));
}

CARD_INLINE void show_wall(const card_show_job* job, const int dim, int64_t wall)
{
    vec_copy(dim, job->p.body + (job->p.mobile_first + wall) * problem_stride(dim),
             job->packed.wall_velocity[wall].now);
}

#define SHOW_KERNEL(name, work, dim)                                                               \
    CARD_KERNEL(name, card_show_job, RESIDUAL_THREADS)                                             \
    {                                                                                              \
        LAST_PHASE (t) {                                                                           \
            const int64_t i = card_item(here, t);                                                  \
            if (i < job.count) work(&job, dim, i);                                                 \
        }                                                                                          \
    }
SHOW_KERNEL(show_impulses_2d, show_impulse, 2)
SHOW_KERNEL(show_impulses_3d, show_impulse, 3)
SHOW_KERNEL(show_rows_2d, show_row, 2)
SHOW_KERNEL(show_rows_3d, show_row, 3)
SHOW_KERNEL(show_walls_2d, show_wall, 2)
SHOW_KERNEL(show_walls_3d, show_wall, 3)

// ---- contacts ----------------------------------------------------------------------------------

CARD_INLINE void find_terms(const card_terms_job* job, const int dim, int64_t c)
{
    const problem* p = &job->p;
    double terms[RESIDUAL_SUMS] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    double e[3] = {0.0, 0.0, 0.0}, mapped[3] = {0.0, 0.0, 0.0}, stopping = 0.0;
    bool counts = false;
    if (residual_is_open(p, dim, c, &stopping)) {
        terms[RESIDUAL_STOPPING] = stopping;
    } else {
        residual_motion u;
        residual_moves(p, dim, c, &u);
        residual_map(p, dim, c, &u, mapped);
        counts = residual_terms(p, dim, c, &u, mapped, 0.0, e, terms);
    }
    for (int k = 0; k < RESIDUAL_SUMS; k++) job->terms[k * p->count + c] = terms[k];
    vec_copy(dim, job->error + c * dim, e);
    job->counts[c] = counts;
}

#define TERMS_KERNEL(name, dim)                                                                    \
    CARD_KERNEL(name, card_terms_job, RESIDUAL_THREADS)                                            \
    {                                                                                              \
        LAST_PHASE (t) {                                                                           \
            const int64_t c = card_item(here, t);                                                  \
            if (c < job.p.count) find_terms(&job, dim, c);                                         \
        }                                                                                          \
    }
TERMS_KERNEL(residual_terms_2d, 2)
TERMS_KERNEL(residual_terms_3d, 3)

// ---- sums --------------------------------------------------------------------------------------

/// A block for each part and sum: all threads fetch, one adds. What is added of contacts that the
/// CPU leaves out is zero, which changes no sum.
CARD_KERNEL(residual_parts_sums, card_parts_job, RESIDUAL_THREADS)
{
    SHARED(double, tile, RESIDUAL_TILE);
    const int part = here.block / RESIDUAL_SUMS, which = here.block % RESIDUAL_SUMS;
    const int64_t first = residual_part_first(job.count, part, job.parts),
                  last = residual_part_first(job.count, part + 1, job.parts);
    const double* terms = job.terms + which * job.count;
    PER_THREAD(double, sum);
    PHASE (t) {
        if (t == 0) MINE(sum, t) = 0.0;
    }
    for (int64_t k = first; k < last; k += RESIDUAL_TILE) {
        const int64_t left = last - k < RESIDUAL_TILE ? last - k : RESIDUAL_TILE;
        PHASE (t) {
            for (int64_t i = t; i < left; i += here.threads) tile[i] = terms[k + i];
        }
        PHASE (t) {
            for (int64_t i = 0; i < left && t == 0; i++) MINE(sum, t) += tile[i];
        }
    }
    LAST_PHASE (t) {
        if (t == 0) job.sums[here.block] = MINE(sum, t);
    }
}

CARD_INLINE void add_cell(const card_cells_job* job, const int dim, int64_t i)
{
    const problem* p = &job->p;
    const int numbers = scales_numbers(dim), k = (int)(i % numbers);
    const int64_t part = i / numbers / job->cells, cell = i / numbers % job->cells;
    const int32_t* start = job->start + part * (job->cells + 1) + cell;
    double sum = 0.0;
    for (int32_t j = start[0]; j < start[1]; j++) {
        const int64_t c = job->list[j];
        if (!job->counts[c]) continue;
        sum += scales_term(dim, k, job->error + c * dim, p->contact + c * problem_width(dim));
    }
    job->stress[i] = sum;
}

#define CELLS_KERNEL(name, dim)                                                                    \
    CARD_KERNEL(name, card_cells_job, RESIDUAL_THREADS)                                            \
    {                                                                                              \
        LAST_PHASE (t) {                                                                           \
            const int64_t i = card_item(here, t);                                                  \
            if (i < job.parts * job.cells * scales_numbers(dim)) add_cell(&job, dim, i);           \
        }                                                                                          \
    }
CELLS_KERNEL(residual_cells_2d, 2)
CELLS_KERNEL(residual_cells_3d, 3)

/// The parts of the cells, in order.
CARD_KERNEL(residual_join_cells, card_cells_job, RESIDUAL_THREADS)
{
    LAST_PHASE (t) {
        const int64_t i = card_item(here, t);
        const int64_t numbers = job.cells * scales_numbers(job.p.dim);
        for (int part = 1; part < job.parts && i < numbers; part++) {
            job.stress[i] += job.stress[part * numbers + i];
        }
    }
}
