/// Contacts of a packed problem that are solved one by one, by what is known of single ones
/// (update.h): those of bodies in the plane that turn about a fixed point.
#include "rigid/packed/exchange.h"
#include "rigid/update.h"

#include <string.h>

static void store_row(packed_problem* packed, int32_t r, const double* body)
{
    const int dim = packed->dim;
    double* row = packed->values[PACKED_ROW] + (int64_t)r * packed_stride(dim);
    if (dim == 3) {
        memcpy(row, body, 8 * sizeof(double));
        return;
    }
    vec_copy(2, row, body);
    row[2] = body[row_w(2)] * packed->values[PACKED_SPIN_SCALE][r];
}

/// A contact by itself, between the rows 0 and 1 of `body`.
typedef struct lone_contact {
    double body[16], row[10], split[36];
    int32_t index[4];
} lone_contact;

/// The problem of contact c alone. A mobile wall is a copy that stays what it is.
static problem one_contact(const packed_problem* packed, int64_t c, lone_contact* x)
{
    const problem* p = packed->problem;
    const int dim = p->dim;
    const int32_t block = problem_block_of(p, c), compound = problem_compound_of(p, c);
    x->index[0] = 0, x->index[1] = 1;
    x->index[2] = block < 0 ? -1 : 0, x->index[3] = compound < 0 ? -1 : 0;
    problem one = {.dim = dim,
                   .rows = 2,
                   .body = x->body,
                   .count = 1,
                   .pair = x->index,
                   .contact = x->row,
                   .block = &x->index[2],
                   .compound = &x->index[3]};
    if (problem_mobile_wall(p, p->pair[2 * c]) >= 0) {
        packed_split_block(packed, c, x->split, x->row);
        one.blocks = x->split;
    } else {
        const int width = problem_width(dim);
        memcpy(x->row, p->contact + c * width, sizeof(double) * (size_t)width);
        if (block >= 0) one.blocks = problem_block(p, dim, c);
    }
    if (compound >= 0) {
        one.compound_rows = &p->compound_rows[compound];
        one.compound_turns = &p->compound_turns[compound];
    }
    return one;
}

/// Momentum acts on the torque impulse of a compound contact, too.
static void extrapolate_torque(packed_problem* packed, int64_t c, double beta)
{
    const int32_t compound = problem_compound_of(packed->problem, c);
    if (compound < 0) return;
    double* torque = packed->problem->compound_rows[compound].torque;
    double* old = packed->values[PACKED_OLD_COMPOUND] + 3 * (int64_t)compound;
    for (int k = 0; k < 3; k++) {
        const double x = torque[k];
        torque[k] = x + beta * (x - old[k]);
        old[k] = x;
    }
}

double packed_update_scalar(packed_problem* packed, int64_t batch, int lane, bool momentum,
                            double beta, const double* y, double* x)
{
    const int dim = packed->dim, stride = problem_stride(dim);
    const int64_t c = packed->source[batch * PACKED_LANES + lane];
    const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
    lone_contact alone;
    double *body = alone.body, *row = alone.row, dp[3];
    if (momentum) extrapolate_torque(packed, c, beta);
    problem one = one_contact(packed, c, &alone);
    unpack_impulse(dim, row, y, row + contact_p(dim));
    unpack_row(packed, packed->problem, dim, who[0], body);
    unpack_row(packed, packed->problem, dim, who[PACKED_LANES], body + stride);
    if (dim == 2) {
        update_contact(&one, 2, 0, body, body + stride, dp);
    } else {
        update_contact(&one, 3, 0, body, body + stride, dp);
    }
    store_row(packed, who[0], body);
    store_row(packed, who[PACKED_LANES], body + stride);
    pack_impulse(packed, row, row + contact_p(dim), x);
    return 1.0 / row[contact_mn(dim)];
}

void packed_apply_scalar(packed_problem* packed, int64_t batch)
{
    const int dim = packed->dim, stride = problem_stride(dim);
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int64_t c = packed->source[batch * PACKED_LANES + lane];
        const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
        lone_contact alone;
        if (c < 0) continue;
        problem one = one_contact(packed, c, &alone);
        unpack_impulse(dim, alone.row,
                       packed->values[PACKED_IMPULSE] + batch * dim * PACKED_LANES + lane,
                       alone.row + contact_p(dim));
        unpack_row(packed, packed->problem, dim, who[0], alone.body);
        unpack_row(packed, packed->problem, dim, who[PACKED_LANES], alone.body + stride);
        problem_apply(&one, 0);
        store_row(packed, who[0], alone.body);
        store_row(packed, who[PACKED_LANES], alone.body + stride);
    }
}
