/// Mobile walls: each of their contacts meets a copy of its own (mass splitting).
///
/// One after the other the contacts of a lid would be a chain that no second thread can share. So
/// the mass of a wall is dealt out to its k contacts: for the length of a sweep contact c meets a
/// copy of it with the mobility k M, so that its response is S_c = S_b + k M, S_b that of its body
/// b. Then all copies have to move alike again:
///     V = V_free - M sum_c p_c
/// summed in the order of all sums (packed.h). Impulses that no contact changes any more are
/// those of the exact law, whatever k is. With k contacts (sum dp)^2 <= k sum dp^2: what the copies
/// take as the energy of a change is never less than what it is, so momentum stays stable; it did
/// not with k/2, or with copies that do not give way. Contacts of walls come after all others, in
/// blocks of their own: mixed into the others some cold starts took three times the sweeps.
#include "rigid/packed/walls.h"

#include "base/array.h"

#include <string.h>

void packed_split_block(const packed_problem* packed, int64_t c, double* block, double* row)
{
    const problem* p = packed->problem;
    const int dim = p->dim, square = dim * dim;
    const int64_t wall = problem_mobile_wall(p, p->pair[2 * c]);
    memcpy(row, p->contact + c * problem_width(dim), sizeof(double) * (size_t)problem_width(dim));
    memcpy(block, problem_block(p, dim, c), sizeof(double) * (size_t)block_width(dim));
    if (packed->wall_contacts[wall] < 2) return;
    vec_add_scaled(square, block, (double)(packed->wall_contacts[wall] - 1),
                   p->mobility + wall * square);
    problem_responses(dim, block, row, &row[contact_mn(dim)], &row[contact_mt(dim)]);
}

/// Add the impulses of a batch, lane by lane; in the plane turned out of the axes normal and
/// tangent.
static void add_batch(const packed_problem* packed, int64_t batch, int64_t slot, const double* p,
                      double sum[3][PACKED_SUMMANDS])
{
    const int dim = packed->dim, kind = packed->batches[batch].kind;
    double normal[2 * PACKED_LANES] = {0.0};
    const double* n = normal;
    if (dim == 2 && kind == PACKED_SCALAR) {
        for (int k = 0; k < PACKED_LANES; k++) {
            const int32_t c = packed->source[batch * PACKED_LANES + k];
            for (int i = 0; i < 2 && c >= 0; i++) {
                normal[i * PACKED_LANES + k] = packed->problem->contact[c * problem_width(2) + i];
            }
        }
    } else if (dim == 2) {
        n = packed->values[packed_array_of(kind)] + packed_constants_at(packed, kind, 2, batch);
    }
    for (int k = 0; k < PACKED_LANES; k++) {
        double push[3];
        push_of_lane(dim, n + k, p + k, push);
        for (int i = 0; i < dim; i++) sum[i][slot + k] += push[i];
    }
}

/// What the impulses in an array push the wall of a block by.
static void sum_block(const packed_problem* packed, const packed_block* block, packed_array array,
                      bool single, double* out)
{
    const int count = packed->dim * PACKED_LANES;
    double sum[3][PACKED_SUMMANDS] = {{0.0}}, of_floats[3 * PACKED_LANES];
    for (int64_t k = block->first; k < block->last; k++) {
        const int64_t slot = (k - block->first) % PACKED_SLOTS * PACKED_LANES;
        for (int i = 0; i < count && single; i++) {
            of_floats[i] = (double)packed->floats[array][k * count + i] * packed->impulse_unit;
        }
        add_batch(packed, k, slot, single ? of_floats : packed->values[array] + k * count, sum);
    }
    for (int i = 0; i < 3; i++) {
        packed_add_halves(sum[i]);
        out[i] = sum[i][0];
    }
}

void packed_push_wall(packed_problem* packed, int64_t number, bool before, bool single)
{
    const packed_block* block = &packed->blocks[number];
    packed_push* push = &packed->pushes[number];
    if (block->wall < 0) return;
    sum_block(packed, block, PACKED_IMPULSE, single, push->now);
    if (before) sum_block(packed, block, PACKED_OLD_IMPULSE, single, push->before);
}

/// Write the velocity of a wall to the row that the lanes of a block of its contacts share.
static void write_copy(packed_problem* packed, const packed_block* block, packed_array array,
                       bool single, const double* v)
{
    const int64_t at = packed_wall_row(block) * packed_stride(packed->dim);
    for (int i = 0; i < packed->dim; i++) {
        if (single) {
            packed->floats[array][at + i] = (float)(v[i] / packed->velocity_unit);
        } else {
            packed->values[array][at + i] = v[i];
        }
    }
}

void packed_move_walls(packed_problem* packed, bool before, bool single)
{
    const problem* p = packed->problem;
    const int dim = p->dim;
    packed_push* walls = packed->wall_velocity;
    if (p->mobile_count == 0) return;
    memset(walls, 0, sizeof *walls * (size_t)p->mobile_count);
    for (int64_t k = 0; k < packed->block_count; k++) {
        const int32_t wall = packed->blocks[k].wall;
        if (wall < 0) continue;
        vec_add_scaled(3, walls[wall].now, 1.0, packed->pushes[k].now);
        if (before) vec_add_scaled(3, walls[wall].before, 1.0, packed->pushes[k].before);
    }
    for (int64_t wall = 0; wall < p->mobile_count; wall++) {
        move_wall(dim, p->free + (p->mobile_first + wall) * problem_stride(dim),
                  p->mobility + wall * dim * dim, &walls[wall]);
    }
    for (int64_t k = 0; k < packed->block_count; k++) {
        const packed_block* block = &packed->blocks[k];
        if (block->wall < 0) continue;
        write_copy(packed, block, PACKED_ROW, single, walls[block->wall].now);
        if (before) write_copy(packed, block, PACKED_OLD_ROW, single, walls[block->wall].before);
    }
}

void packed_show_walls(const packed_problem* packed)
{
    const problem* p = packed->problem;
    for (int64_t wall = 0; wall < p->mobile_count; wall++) {
        vec_copy(p->dim, p->body + (p->mobile_first + wall) * problem_stride(p->dim),
                 packed->wall_velocity[wall].now);
    }
}
