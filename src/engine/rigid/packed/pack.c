/// Packing a problem: rows of bodies, and the numbers that kernels want of each kind of contact.
#include "base/array.h"
#include "base/portable.h"
#include "rigid/packed/exchange.h"
#include "rigid/packed/on_card.h"

#include <string.h>

// ---- rows --------------------------------------------------------------------------------------

/// Body rows of the problem's layout to packed ones and back. In the plane the packed w is scaled
/// so that it has the mobility of v.
void packed_take_row(packed_problem* packed, int64_t r)
{
    const int dim = packed->dim, stride = packed_stride(dim);
    double* row = packed->values[PACKED_ROW] + r * stride;
    if (packed->body_of[r] < 0) {
        if (dim == 2) packed->values[PACKED_SPIN_SCALE][r] = 1.0;
        for (int k = 0; k < stride; k++) row[k] = 0.0;
        return;
    }
    const double* body = packed->problem->free + (int64_t)packed->body_of[r] * problem_stride(dim);
    if (dim == 3) {
        memcpy(row, body, 8 * sizeof(double));
        return;
    }
    const double im = body[row_im(2)], kim = body[row_kim(2)];
    const double common =
        packed->spin_arm > 0.0 ? 1.0 / packed->spin_arm : 1.0; // of balls that are fixed
    const double scale = im > 0.0 && kim > 0.0 ? sqrt(im / kim) : common;
    packed->values[PACKED_SPIN_SCALE][r] = scale;
    row[0] = body[0];
    row[1] = body[1];
    row[2] = scale * body[row_w(2)];
    row[3] = im;
}

// ---- contacts ----------------------------------------------------------------------------------

/// Constants of an idle lane: no response, so its impulse stays zero.
static ALWAYS_INLINE void pack_idle(double* out, int fields)
{
    for (int k = 0; k < fields; k++) out[k * PACKED_LANES] = 0.0;
}

static ALWAYS_INLINE void put(double** out, double value)
{
    **out = value;
    *out += PACKED_LANES;
}

/// Upper triangle of a symmetric matrix.
static void put_upper(double** out, int dim, const double* m)
{
    for (int i = 0; i < dim; i++) {
        for (int j = i; j < dim; j++) put(out, m[i * dim + j]);
    }
}

/// A contact of balls with the laws of a compound one, if it is; slip has only its tangential part.
static void put_bond(double** out, const packed_problem* packed, int64_t c, const double* row)
{
    const int dim = packed->dim;
    const int32_t index = problem_compound_of(packed->problem, c);
    const compound_contact none = {0},
                           *compound = index < 0 ? &none : &packed->problem->compound_rows[index];
    const double normal = vec_dot(dim, compound->slip, row);
    for (int k = 0; k < contact_p(dim); k++) put(out, row[k]);
    put(out, compound->bond);
    put(out, compound->closing);
    if (dim == 2) put(out, row[0] * compound->slip[1] - row[1] * compound->slip[0]);
    for (int k = 0; k < 3 && dim == 3; k++) put(out, compound->slip[k] - normal * row[k]);
}

/// The bound of a torque as base (x + y base^exponent): x, y, for torques in units of a length.
static void put_bound(double** out, const rolling_bound* bound, double h, double length)
{
    const bool power = bound->exponent != 0.0;
    const double coefficient = bound->coefficient / length;
    put(out, power ? 0.0 : coefficient);
    put(out, power ? coefficient * portable_pow(h, -bound->exponent) : 0.0);
}

/// roll.h says what these numbers are.
static void pack_roll(const packed_problem* packed, int64_t c, const double* row, int64_t batch,
                      int lane, double* out)
{
    const int dim = packed->dim, turns = spin_width(dim);
    const compound_contact* r =
        &packed->problem->compound_rows[problem_compound_of(packed->problem, c)];
    const double mt = row[contact_mt(dim)], wt = 1.0 / mt, wr = r->response, g = r->coupling;
    const double arm = dim == 2 ? packed->spin_arm : 1.0;
    put_bond(&out, packed, c, row);
    put(&out, arm * r->inv_radius_a);
    put(&out, arm * r->inv_radius_b);
    put(&out, g);
    put(&out, wt);
    put(&out, wr);
    put(&out, g / wr);
    put(&out, 1.0 / wr);
    put(&out, 1.0 / (wt - g * g / wr));
    put(&out, 1.0 / (wr - g * g * mt));
    put_bound(&out, &r->rolling, r->h, 1.0);
    if (dim == 3) put_bound(&out, &r->torsion, r->h, 1.0);
    for (int k = 0; k < turns; k++) {
        put(&out, r->spin_a[k]);
        packed_torque(packed, batch, lane)[k * PACKED_LANES] = r->torque[k];
    }
}

/// The upper triangle of a [2][2] matrix turned into the axes normal and tangent.
static void put_turned(double** out, const double* n, const double* m)
{
    const double t[2] = {-n[1], n[0]};
    const double mn[2] = {m[0] * n[0] + m[1] * n[1], m[2] * n[0] + m[3] * n[1]};
    const double mt[2] = {m[0] * t[0] + m[1] * t[1], m[2] * t[0] + m[3] * t[1]};
    put(out, n[0] * mn[0] + n[1] * mn[1]);
    put(out, n[0] * mt[0] + n[1] * mt[1]);
    put(out, t[0] * mt[0] + t[1] * mt[1]);
}

/// What a spin in the plane is to be multiplied by for the packed w of a row: nothing if the body
/// cannot turn, as rows have one mobility.
static double from_packed_spin(const packed_problem* packed, int32_t row)
{
    const double* body = packed->problem->free + (int64_t)packed->body_of[row] * problem_stride(2);
    const bool locked = body[row_im(2)] != 0.0 && body[row_kim(2)] == 0.0;
    return locked ? INFINITY : packed->values[PACKED_SPIN_SCALE][row];
}

static void put_turned_arm(double** out, const double* n, const double* arm, double scale)
{
    put(out, (n[0] * arm[0] + n[1] * arm[1]) / scale);
    put(out, (n[0] * arm[1] - n[1] * arm[0]) / scale);
}

static void pack_solid(const packed_problem* packed, const double* row, const double* block,
                       const int32_t* who, double* out)
{
    const int dim = packed->dim;
    const double *inverse = block + block_inverse(dim), *arm_a = block + block_arm_a(dim),
                 *arm_b = block + block_arm_b(dim);
    for (int k = 0; k < dim; k++) put(&out, row[k]);
    put(&out, 1.0 / row[contact_mn(dim)]);
    put(&out, row[contact_bias(dim)]);
    put(&out, row[contact_mu(dim)]);
    if (dim == 3) {
        put_upper(&out, 3, block);
        put_upper(&out, 3, inverse);
        for (int k = 0; k < 9; k++) put(&out, arm_a[k]);
        for (int k = 0; k < 9; k++) put(&out, arm_b[k]);
        return;
    }
    put_turned(&out, row, block);
    put_turned(&out, row, inverse);
    put_turned_arm(&out, row, arm_a, from_packed_spin(packed, who[0]));
    put_turned_arm(&out, row, arm_b, from_packed_spin(packed, who[PACKED_LANES]));
}

/// The full block of balls that have only a row.
static void make_block(const problem* p, const double* row, double* block)
{
    const int dim = p->dim;
    const double wn = 1.0 / row[contact_mn(dim)], wt = 1.0 / row[contact_mt(dim)];
    double *inverse = block + block_inverse(dim), *arm_a = block + block_arm_a(dim),
           *arm_b = block + block_arm_b(dim);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            const double nn = row[i] * row[j], tt = (i == j ? 1.0 : 0.0) - nn;
            block[i * dim + j] = wn * nn + wt * tt;
            inverse[i * dim + j] = nn / wn + tt / wt;
        }
    }
    if (dim == 2) { // u = v_b - v_a - (w_a + w_b) x n
        arm_b[0] = row[1], arm_b[1] = -row[0];
        arm_a[0] = -row[1], arm_a[1] = row[0];
        return;
    }
    const double n[3] = {row[0], row[1], row[2]};
    const double ball[9] = {0.0, -n[2], n[1], n[2], 0.0, -n[0], -n[1], n[0], 0.0};
    for (int k = 0; k < 9; k++) arm_b[k] = ball[k], arm_a[k] = -ball[k];
}

// ---- compound contacts with full blocks --------------------------------------------------------

/// A compound contact as compound.h wants it: along the axes of the contact, n last, with torques
/// in units of a length. Matrices [3][3]; 2D: the first of each row, or [1].
typedef struct compound_parts {
    const compound_contact* contact;
    double axis[3][3], length;
    double turn_a[9], turn_b[9]; ///< spins from w
    compound_arms arms;
} compound_parts;

/// Tangents, and n last.
static void axes_of_contact(int dim, const double* n, double axis[3][3])
{
    double frame[3][3];
    vec_frame(dim, n, frame);
    for (int i = 0; i < dim; i++) vec_copy(3, axis[i], frame[(i + 1) % dim]);
}

static compound_parts parts_of(const packed_problem* packed, int64_t c, const double* row,
                               const double* block)
{
    const problem* p = packed->problem;
    const int dim = p->dim, turns = spin_width(dim);
    const int32_t index = problem_compound_of(p, c);
    const compound_turn* t = &p->compound_turns[index];
    compound_parts x = {.contact = &p->compound_rows[index], .length = 1.0};
    double push = 0.0, turn = 0.0;
    axes_of_contact(dim, row, x.axis);
    x.arms = t->used ? t->arms : compound_ball_arms(dim, row, x.contact);
    for (int i = 0; i < turns; i++) {
        for (int j = 0; j < turns; j++) {
            const int at = i * turns + j;
            x.turn_a[at] = t->used ? t->turn_a[3 * i + j] : i == j ? x.contact->inv_radius_a : 0.0;
            x.turn_b[at] = t->used ? t->turn_b[3 * i + j] : i == j ? x.contact->inv_radius_b : 0.0;
        }
        turn += x.arms.response[i * turns + i];
    }
    for (int i = 0; i < dim; i++) push += block[i * dim + i];
    if (turn > 0.0) x.length = sqrt(push / turn);
    return x;
}

/// x . m y for a [rows][columns] matrix.
static double between(int rows, int columns, const double* x, const double* m, const double* y)
{
    double sum = 0.0;
    for (int i = 0; i < rows; i++) sum += x[i] * vec_dot(columns, m + i * columns, y);
    return sum;
}

/// The responses of impulses, and of torques before them if there are any.
static void put_responses(double** out, int dim, int turns, const compound_parts* x,
                          const double* block)
{
    static const double along_z[1] = {1.0};
    const double length = x->length;
    for (int i = 0; i < turns; i++) {
        const double* spin = dim == 2 ? along_z : x->axis[i];
        for (int j = i; j < turns; j++) {
            const double* other = dim == 2 ? along_z : x->axis[j];
            const double response =
                length * length * between(turns, turns, spin, x->arms.response, other);
            // What nothing can turn is not turned: its bounds are zero.
            put(out, i == j && !(response > 0.0) ? block[0] : response);
        }
        for (int j = 0; j < dim; j++) {
            put(out, length * between(turns, dim, spin, x->arms.coupling, x->axis[j]));
        }
    }
    for (int i = 0; i < dim; i++) {
        for (int j = i; j < dim; j++) put(out, between(dim, dim, x->axis[i], block, x->axis[j]));
    }
}

/// A matrix from the spin of a body to velocities or spins, [rows][turns], turned into the axes.
static void put_arm(double** out, int dim, int rows, const double axis[3][3], const double* arm,
                    double factor)
{
    const int turns = spin_width(dim);
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < turns; k++) {
            double sum = rows == 1 ? arm[0] : 0.0;
            for (int j = 0; j < rows && rows > 1; j++) sum += axis[i][j] * arm[j * turns + k];
            put(out, factor * sum);
        }
    }
}

/// compound.h says what these numbers are.
static void pack_compound(packed_problem* packed, int64_t c, const double* row, const double* block,
                          int64_t batch, int lane, double* out)
{
    const int dim = packed->dim, turns = spin_width(dim);
    const bool torques = packed_has_torques(packed->batches[batch].kind);
    const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
    const compound_parts x = parts_of(packed, c, row, block);
    const compound_contact* r = x.contact;
    double a = 1.0, b = 1.0;
    if (dim == 2) {
        a /= from_packed_spin(packed, who[0]);
        b /= from_packed_spin(packed, who[PACKED_LANES]);
    }
    for (int k = 0; k < dim; k++) put(&out, row[k]);
    put(&out, between(dim, dim, row, block, row));
    put(&out, row[contact_bias(dim)]);
    put(&out, row[contact_mu(dim)]);
    put(&out, r->bond);
    put(&out, r->closing);
    for (int k = 0; k < 3 && dim == 3; k++) put(&out, x.axis[0][k]);
    for (int i = 0; i < dim - 1; i++) put(&out, vec_dot(dim, x.axis[i], r->slip));
    put_responses(&out, dim, torques ? turns : 0, &x, block);
    put_arm(&out, dim, dim, x.axis, block + block_arm_a(dim), a);
    put_arm(&out, dim, dim, x.axis, block + block_arm_b(dim), b);
    if (!torques) return;
    const bool turned = x.arms.response[0] > 0.0;
    const rolling_bound none = {0.0, 0.0};
    double* torque = packed_torque(packed, batch, lane);
    put(&out, x.length);
    put_bound(&out, turned ? &r->rolling : &none, r->h, x.length);
    if (dim == 3) put_bound(&out, turned ? &r->torsion : &none, r->h, x.length);
    for (int i = 0; i < turns; i++) {
        const double spin = dim == 2 ? r->spin_a[0] : vec_dot(3, x.axis[i], r->spin_a);
        const double now = dim == 2 ? r->torque[0] : vec_dot(3, x.axis[i], r->torque);
        put(&out, x.length * spin);
        torque[i * PACKED_LANES] = now / x.length;
    }
    put_arm(&out, dim, turns, x.axis, x.turn_a, a * x.length);
    put_arm(&out, dim, turns, x.axis, x.turn_b, b * x.length);
}

// ---- batches -----------------------------------------------------------------------------------

void packed_unpack_torque(const packed_problem* packed, int64_t c, int64_t batch, int lane,
                          double* out)
{
    const int dim = packed->dim, kind = packed->batches[batch].kind;
    const double* torque = packed_torque(packed, batch, lane);
    if (kind == PACKED_ROLL) {
        for (int k = 0; k < spin_width(dim); k++) out[k] = torque[k * PACKED_LANES];
        return;
    }
    const double length =
        packed_constants(packed, kind, dim, batch)[packed_length_at(dim) * PACKED_LANES + lane];
    if (dim == 2) {
        out[0] = length * torque[0];
        return;
    }
    double axis[3][3];
    axes_of_contact(dim, packed->problem->contact + c * problem_width(dim), axis);
    for (int k = 0; k < 3; k++) {
        out[k] = 0.0;
        for (int i = 0; i < 3; i++) out[k] += length * torque[i * PACKED_LANES] * axis[i][k];
    }
}

/// A batch of plain contacts of balls, as nearly all are.
static ALWAYS_INLINE void pack_balls(packed_problem* packed, int64_t batch, const int dim)
{
    const double* rows = packed->problem->contact;
    double* constants = packed_constants(packed, PACKED_BALL, dim, batch);
    double* impulse = packed->values[PACKED_IMPULSE] + batch * dim * PACKED_LANES;
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int64_t c = packed->source[batch * PACKED_LANES + lane];
        const double* row = rows + c * problem_width(dim);
        double* out = constants + lane;
        if (c < 0) {
            pack_idle(out, packed_fields(PACKED_BALL, dim));
            pack_idle(impulse + lane, dim);
            continue;
        }
        for (int k = 0; k < contact_p(dim); k++) {
            if (dim == 2 || (k != contact_mn(3) && k != contact_mt(3))) put(&out, row[k]);
        }
        pack_impulse(packed, row, row + contact_p(dim), impulse + lane);
    }
}

static void pack_batch(packed_problem* packed, int64_t batch)
{
    const problem* p = packed->problem;
    const int dim = packed->dim, kind = packed->batches[batch].kind;
    tell_memory(packed, batch, false);
    if (kind == PACKED_BALL) {
        if (dim == 2) {
            pack_balls(packed, batch, 2);
        } else {
            pack_balls(packed, batch, 3);
        }
        return;
    }
    double* constants = packed_constants(packed, kind, dim, batch);
    double* impulse = packed->values[PACKED_IMPULSE] + batch * dim * PACKED_LANES;
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int64_t c = packed->source[batch * PACKED_LANES + lane];
        if (c < 0) {
            pack_idle(constants + lane, packed_fields(kind, dim));
            pack_idle(impulse + lane, dim);
            if (packed_has_torques(kind)) {
                pack_idle(packed_torque(packed, batch, lane), spin_width(dim));
            }
            continue;
        }
        const double *row = p->contact + c * problem_width(dim), *block = NULL;
        const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
        double* out = constants + lane;
        double own[36], split_row[10];
        pack_impulse(packed, row, row + contact_p(dim), impulse + lane);
        if (p->mobile_count > 0 && problem_mobile_wall(p, p->pair[2 * c]) >= 0) {
            packed_split_block(packed, c, own, split_row);
            row = split_row, block = own;
        } else if (problem_block_of(p, c) >= 0) {
            block = problem_block(p, dim, c);
        } else if (kind >= PACKED_SOLID && kind != PACKED_SCALAR) {
            make_block(p, row, own);
            block = own;
        }
        switch (kind) {
        case PACKED_BOND: put_bond(&out, packed, c, row); break;
        case PACKED_ROLL: pack_roll(packed, c, row, batch, lane, out); break;
        case PACKED_SOLID: pack_solid(packed, row, block, who, out); break;
        case PACKED_SOLID_BOND:
        case PACKED_SOLID_ROLL: pack_compound(packed, c, row, block, batch, lane, out); break;
        default: break; // what is solved one by one is read from the problem
        }
    }
}

void packed_refresh_friction(packed_problem* packed)
{
    const int dim = packed->dim;
    for (int64_t k = 0; k < packed->batch_count; k++) {
        const int kind = packed->batches[k].kind,
                  mu = packed_friction_at(kind, dim); // only friction of compound contacts changes
        if (kind == PACKED_BALL || kind == PACKED_SOLID || kind == PACKED_SCALAR) continue;
        double* constants = packed_constants(packed, kind, dim, k);
        for (int lane = 0; lane < PACKED_LANES; lane++) {
            const int64_t c = packed->source[k * PACKED_LANES + lane];
            if (c < 0) continue;
            constants[mu * PACKED_LANES + lane] =
                packed->problem->contact[c * problem_width(dim) + contact_mu(dim)];
        }
        if (packed->single) {
            const double* from = constants + mu * PACKED_LANES; // friction has no unit
            const packed_array array = packed_array_of(kind);
            float* to = packed->floats[array] + (from - packed->values[array]);
            for (int lane = 0; lane < PACKED_LANES; lane++) to[lane] = (float)from[lane];
        }
    }
    if (packed->on_card) packed_card_refresh_friction(packed);
}

talus_status packed_pack(packed_problem* packed, problem* p, int threads)
{
    threads = packed_threads(p->count, threads);
    packed_leave_card(packed);
    if (packed_arrange(packed, p, threads)) return TALUS_ERR_MEMORY;
    packed->problem = p;
    if (packed_gather_open(packed, threads)) return TALUS_ERR_MEMORY;
    packed->single = packed->has_old = false;
    const int dim = packed->dim, lanes = PACKED_LANES, turns = spin_width(dim);
    const int64_t torques = packed->slots[PACKED_ROLL] + packed->slots[PACKED_SOLID_ROLL];
    const int64_t needed[PACKED_ARRAYS] = {
        [PACKED_ROW] = packed->row_count * packed_stride(dim),
        [PACKED_OLD_ROW] = packed->row_count * packed_stride(dim),
        [PACKED_IMPULSE] = packed->batch_count * dim * lanes,
        [PACKED_OLD_IMPULSE] = packed->batch_count * dim * lanes,
        [PACKED_BALLS] = packed->slots[PACKED_BALL] * packed_fields(PACKED_BALL, dim) * lanes,
        [PACKED_BONDS] = packed->slots[PACKED_BOND] * packed_fields(PACKED_BOND, dim) * lanes,
        [PACKED_ROLLS] = packed->slots[PACKED_ROLL] * packed_fields(PACKED_ROLL, dim) * lanes,
        [PACKED_SOLIDS] = packed->slots[PACKED_SOLID] * packed_fields(PACKED_SOLID, dim) * lanes,
        [PACKED_SOLID_BONDS] =
            packed->slots[PACKED_SOLID_BOND] * packed_fields(PACKED_SOLID_BOND, dim) * lanes,
        [PACKED_SOLID_ROLLS] =
            packed->slots[PACKED_SOLID_ROLL] * packed_fields(PACKED_SOLID_ROLL, dim) * lanes,
        [PACKED_SPIN_SCALE] = dim == 2 ? packed->row_count : 0,
        [PACKED_TORQUE] = torques * turns * lanes,
        [PACKED_OLD_TORQUE] = torques * turns * lanes,
        [PACKED_OLD_COMPOUND] = 3 * p->compound_count,
    };
    for (int k = 0; k < PACKED_ARRAYS; k++) {
        packed->length[k] = needed[k];
        if (!arrays_renew(&packed->capacity[k], needed[k], ARRAY(packed->values[k]))) {
            return TALUS_ERR_MEMORY;
        }
    }
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t r = 0; r < packed->row_count; r++) packed_take_row(packed, r);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < packed->batch_count; k++) pack_batch(packed, k);
    }
    return TALUS_OK;
}
