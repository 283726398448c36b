/// Which kind of batch a contact belongs to (packed.h lists them): its law, its bodies and its
/// block decide.
#include "rigid/ahead.h"
#include "rigid/packed/layout.h"

/// In the plane rows have one mobility: a body that can turn but not move does not fit, nor does
/// one that turns and cannot be kept from it, whose arms are left out.
static bool odd_row(const problem* p, int32_t row)
{
    const double* body = p->free + (int64_t)row * problem_stride(p->dim);
    if (p->dim == 3) return false;
    return body[row_im(2)] == 0.0 ? body[row_kim(2)] != 0.0
                                  : body[row_kim(2)] == 0.0 && body[row_w(2)] != 0.0;
}

/// In the plane balls share one ratio of mobilities (packed.c); others have arms of their own.
static bool common_ball(const problem* p, int32_t row, double ratio)
{
    if (p->dim == 3) return true;
    const double* body = p->free + (int64_t)row * problem_stride(2);
    return ratio > 0.0 &&
           fabs(body[row_kim(2)] - ratio * body[row_im(2)]) <= 1e-14 * body[row_kim(2)];
}

/// Does a compound contact turn bodies by torques of its own?
static bool has_torque(const problem* p, int32_t compound)
{
    const compound_contact* r = &p->compound_rows[compound];
    return r->rolling.coefficient != 0.0 || r->torsion.coefficient != 0.0 || r->torque[0] != 0.0 ||
           r->torque[1] != 0.0 || r->torque[2] != 0.0;
}

/// Can lanes take the powers in the bounds of its torques (law/rolling.c)?
static bool rolls_simply(const problem* p, int32_t compound)
{
    const compound_contact* r = &p->compound_rows[compound];
    const double hertz = p->dim == 2 ? 0.5 : 1.0 / 3.0;
    return (r->rolling.exponent == 0.0 || r->rolling.exponent == hertz) &&
           (r->torsion.exponent == 0.0 || r->torsion.exponent == hertz);
}

/// Is the full block of a ball at a mobile wall the diagonal one of its row, to rounding? It is
/// where the normal is an axis along which the wall moves and the others move alike.
static bool diagonal_block(const problem* p, int64_t c)
{
    const int dim = p->dim;
    const double *n = p->contact + c * problem_width(dim), *S = problem_block(p, dim, c);
    const double *arm = S + block_arm_b(dim), rounding = 1e-14;
    const double wn = 1.0 / n[contact_mn(dim)], wt = 1.0 / n[contact_mt(dim)];
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            const double diagonal = (wn - wt) * n[i] * n[j] + (i == j ? wt : 0.0);
            if (!(fabs(S[i * dim + j] - diagonal) <= rounding * (wn + wt))) return false;
        }
    }
    if (dim == 2) return fabs(arm[0] - n[1]) <= rounding && fabs(arm[1] + n[0]) <= rounding;
    const double ball[9] = {0.0, -n[2], n[1], n[2], 0.0, -n[0], -n[1], n[0], 0.0};
    for (int k = 0; k < 9; k++) {
        if (!(fabs(arm[k] - ball[k]) <= rounding)) return false;
    }
    return true;
}

/// Are the responses in a row those of its bodies, to the bit? Then batches need not hold them.
static bool plain_responses(const problem* p, int64_t c)
{
    const double* row = p->contact + c * problem_width(3);
    const double* a = p->free + (int64_t)p->pair[2 * c] * problem_stride(3);
    const double* b = p->free + (int64_t)p->pair[2 * c + 1] * problem_stride(3);
    const double wn = a[row_im(3)] + b[row_im(3)], wt = wn + a[row_kim(3)] + b[row_kim(3)];
    return wn > 0.0 && row[contact_mn(3)] == 1.0 / wn && row[contact_mt(3)] == 1.0 / wt;
}

uint8_t packed_traits_of(const problem* p, int32_t row, double ratio)
{
    return (uint8_t)((odd_row(p, row) ? PACKED_ODD : 0) |
                     (common_ball(p, row, ratio) ? PACKED_COMMON : 0));
}

static ALWAYS_INLINE packed_kind kind_of(const problem* p, int64_t c, const uint8_t* traits)
{
    const int32_t a = p->pair[2 * c], b = p->pair[2 * c + 1], compound = problem_compound_of(p, c);
    const bool wall = problem_mobile_wall(p, a) >= 0, block = problem_block_of(p, c) >= 0;
    if ((traits[a] | traits[b]) & PACKED_ODD) return PACKED_SCALAR;
    const bool balls = (wall || traits[a] & PACKED_COMMON) && traits[b] & PACKED_COMMON;
    const bool diagonal = balls && (!block || (wall && diagonal_block(p, c)));
    if (compound < 0 && !diagonal) return PACKED_SOLID;
    if (compound < 0)
        return !wall && (p->dim == 2 || plain_responses(p, c)) ? PACKED_BALL : PACKED_BOND;
    if (!has_torque(p, compound)) return diagonal ? PACKED_BOND : PACKED_SOLID_BOND;
    if (!rolls_simply(p, compound)) return PACKED_SCALAR;
    return diagonal && p->compound_rows[compound].response > 0.0 ? PACKED_ROLL : PACKED_SOLID_ROLL;
}

int64_t packed_note_kinds(const problem* p, const uint8_t* traits, uint8_t* kind, int threads)
{
    // In the plane, where no contact has more than a row, traits say it all.
    const bool plain = p->dim == 2 && !p->block && !p->compound && p->mobile_count == 0;
    int64_t different = 0;
#pragma omp parallel for num_threads(threads) if (threads > 1) reduction(+ : different)
    for (int64_t c = 0; c < p->count; c++) {
        if (!plain) look_ahead(p, p->dim, c, p->free);
        const uint8_t a = traits[p->pair[2 * c]], b = traits[p->pair[2 * c + 1]];
        const bool balls = plain && a == PACKED_COMMON && b == PACKED_COMMON;
        const uint8_t now = balls ? PACKED_BALL : (uint8_t)kind_of(p, c, traits);
        different += kind[c] != now;
        kind[c] = now;
    }
    return different;
}

double packed_spin_ratio(const problem* p)
{
    for (int64_t c = 0; c < p->count && p->dim == 2; c++) {
        const double* body = p->free + (int64_t)p->pair[2 * c + 1] * problem_stride(2);
        if (problem_block_of(p, c) >= 0 || !(body[row_im(2)] > 0.0)) continue;
        return body[row_kim(2)] / body[row_im(2)];
    }
    return 0.0;
}
