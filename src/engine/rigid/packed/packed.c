/// Packing a problem into batches and back, and the sweep over all blocks.
#include "rigid/packed/packed.h"

#include "base/array.h"
#include "base/crew.h"
#include "rigid/update.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/// Below this one thread is faster than two (docs/performance.md).
enum { CONTACTS_FOR_THREADS = 5000 };
/// Above this many contacts memory counts more than the time to get it again in the next step.
enum { CONTACTS_TO_KEEP = 200000 };

int packed_threads(int64_t contacts, int threads)
{
    return contacts < CONTACTS_FOR_THREADS || threads < 1 ? 1 : threads;
}

/// Constants of a batch.
static double* constants_of(const packed_problem* packed, int kind, int dim, int64_t batch)
{
    return packed->values[packed_array_of(kind)] + packed_constants_at(packed, kind, dim, batch);
}

void packed_free(packed_problem* packed)
{
    packed_layout_free(packed);
    packed_single_free(packed);
    crew_free(packed->crew);
    free(packed->blocks);
    free(packed->done);
    free(packed->batches);
    free(packed->who);
    free(packed->source);
    free(packed->arranged);
    free(packed->opening);
    free(packed->open);
    free(packed->held);
    free(packed->body_of);
    free(packed->private_row);
    free(packed->sums);
    for (int k = 0; k < PACKED_ARRAYS; k++) free(packed->values[k]);
    *packed = (packed_problem){0};
}

// ---- packing -----------------------------------------------------------------------------------

/// Body rows of the problem's layout to packed ones and back. In the plane the packed w is scaled
/// so that it has the mobility of v.
static void pack_row(packed_problem* packed, int64_t r)
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

/// Normal and tangent of a contact in the plane.
static void pack_impulse(const packed_problem* packed, const double* row, const double* p,
                         double* out)
{
    if (packed->dim == 3) {
        for (int k = 0; k < 3; k++) out[k * PACKED_LANES] = p[k];
        return;
    }
    out[0] = row[0] * p[0] + row[1] * p[1];
    out[PACKED_LANES] = row[0] * p[1] - row[1] * p[0];
}

static void unpack_impulse(const packed_problem* packed, const double* row, const double* in,
                           double* p)
{
    if (packed->dim == 3) {
        for (int k = 0; k < 3; k++) p[k] = in[k * PACKED_LANES];
        return;
    }
    const double pn = in[0], pt = in[PACKED_LANES];
    p[0] = pn * row[0] - pt * row[1];
    p[1] = pn * row[1] + pt * row[0];
}

/// Constants of an idle lane: no response, so its impulse stays zero.
static void pack_idle(double* out, int fields)
{
    for (int k = 0; k < fields; k++) out[k * PACKED_LANES] = 0.0;
}

static void put(double** out, double value)
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
static void put_bond(double** out, const packed_problem* packed, int64_t c)
{
    const int dim = packed->dim;
    const int32_t index = problem_compound_of(packed->problem, c);
    const double* row = packed->problem->contact + c * problem_width(dim);
    const compound_contact none = {0},
                           *compound = index < 0 ? &none : &packed->problem->compound_rows[index];
    const double normal = vec_dot(dim, compound->slip, row);
    for (int k = 0; k < contact_p(dim); k++) put(out, row[k]);
    put(out, compound->bond);
    put(out, compound->closing);
    if (dim == 2) put(out, row[0] * compound->slip[1] - row[1] * compound->slip[0]);
    for (int k = 0; k < 3 && dim == 3; k++) put(out, compound->slip[k] - normal * row[k]);
}

/// Torque impulse of a lane of a ROLL batch, [1 or 3] with a stride of lanes.
static double* packed_torque(const packed_problem* packed, int64_t batch, int lane)
{
    const int turns = spin_width(packed->dim);
    return packed->values[PACKED_TORQUE] + packed->batches[batch].slot * turns * PACKED_LANES +
           lane;
}

/// The bound of a torque as base (x + y base^exponent): x, y.
static void put_bound(double** out, const rolling_bound* bound, double h)
{
    const bool power = bound->exponent != 0.0;
    put(out, power ? 0.0 : bound->coefficient);
    put(out, power ? bound->coefficient * pow(h, -bound->exponent) : 0.0);
}

/// roll.h says what these numbers are.
static void pack_roll(const packed_problem* packed, int64_t c, int64_t batch, int lane, double* out)
{
    const int dim = packed->dim, turns = spin_width(dim);
    const compound_contact* r =
        &packed->problem->compound_rows[problem_compound_of(packed->problem, c)];
    const double* row = packed->problem->contact + c * problem_width(dim);
    const double mt = row[contact_mt(dim)], wt = 1.0 / mt, wr = r->response, g = r->coupling;
    const double arm = dim == 2 ? packed->spin_arm : 1.0;
    put_bond(&out, packed, c);
    put(&out, arm * r->inv_radius_a);
    put(&out, arm * r->inv_radius_b);
    put(&out, g);
    put(&out, wt);
    put(&out, wr);
    put(&out, g / wr);
    put(&out, 1.0 / wr);
    put(&out, 1.0 / (wt - g * g / wr));
    put(&out, 1.0 / (wr - g * g * mt));
    put_bound(&out, &r->rolling, r->h);
    if (dim == 3) put_bound(&out, &r->torsion, r->h);
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

static void put_turned_arm(double** out, const double* n, const double* arm, double scale)
{
    put(out, (n[0] * arm[0] + n[1] * arm[1]) / scale);
    put(out, (n[0] * arm[1] - n[1] * arm[0]) / scale);
}

static void pack_solid(const packed_problem* packed, int64_t c, const int32_t* who, double* out)
{
    const problem* p = packed->problem;
    const int dim = packed->dim;
    const double* row = p->contact + c * problem_width(dim);
    const double* block = problem_block(p, dim, c);
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
    const double* scale = packed->values[PACKED_SPIN_SCALE];
    put_turned(&out, row, block);
    put_turned(&out, row, inverse);
    put_turned_arm(&out, row, arm_a, scale[who[0]]);
    put_turned_arm(&out, row, arm_b, scale[who[PACKED_LANES]]);
}

static void pack_batch(packed_problem* packed, int64_t batch)
{
    const problem* p = packed->problem;
    const int dim = packed->dim, kind = packed->batches[batch].kind;
    double* constants = constants_of(packed, kind, dim, batch);
    double* impulse = packed->values[PACKED_IMPULSE] + batch * dim * PACKED_LANES;
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int64_t c = packed->source[batch * PACKED_LANES + lane];
        if (c < 0) {
            pack_idle(constants + lane, packed_fields(kind, dim));
            pack_idle(impulse + lane, dim);
            if (kind == PACKED_ROLL) pack_idle(packed_torque(packed, batch, lane), spin_width(dim));
            continue;
        }
        const double* row = p->contact + c * problem_width(dim);
        double* out = constants + lane;
        pack_impulse(packed, row, row + contact_p(dim), impulse + lane);
        switch (kind) {
        case PACKED_BALL:
            for (int k = 0; k < contact_p(dim); k++) {
                if (dim == 2 || (k != contact_mn(3) && k != contact_mt(3))) put(&out, row[k]);
            }
            break;
        case PACKED_BOND: put_bond(&out, packed, c); break;
        case PACKED_ROLL: pack_roll(packed, c, batch, lane, constants + lane); break;
        case PACKED_MOBILE_WALL:
            put_bond(&out, packed, c);
            put_upper(&out, dim, p->mobility + (p->pair[2 * c] - p->mobile_first) * dim * dim);
            break;
        case PACKED_SOLID:
            pack_solid(packed, c, packed->who + 2 * batch * PACKED_LANES + lane, constants + lane);
            break;
        default: break; // what is solved one by one is read from the problem
        }
    }
}

void packed_refresh_friction(packed_problem* packed)
{
    const int dim = packed->dim, mu = contact_mu(dim);
    for (int64_t k = 0; k < packed->batch_count; k++) {
        const int kind = packed->batches[k].kind; // only friction of compound contacts changes
        if (kind != PACKED_BOND && kind != PACKED_ROLL && kind != PACKED_MOBILE_WALL) continue;
        double* constants = constants_of(packed, kind, dim, k);
        for (int lane = 0; lane < PACKED_LANES; lane++) {
            const int64_t c = packed->source[k * PACKED_LANES + lane];
            if (c < 0) continue;
            constants[mu * PACKED_LANES + lane] =
                packed->problem->contact[c * problem_width(dim) + mu];
        }
        if (packed->single) {
            const double* from = constants + mu * PACKED_LANES; // friction has no unit
            const packed_array array = packed_array_of(kind);
            float* to = packed->floats[array] + (from - packed->values[array]);
            for (int lane = 0; lane < PACKED_LANES; lane++) to[lane] = (float)from[lane];
        }
    }
}

talus_status packed_pack(packed_problem* packed, problem* p, int threads)
{
    threads = packed_threads(p->count, threads);
    if (packed_arrange(packed, p, threads)) return TALUS_ERR_MEMORY;
    packed->problem = p;
    if (packed_gather_open(packed, threads)) return TALUS_ERR_MEMORY;
    packed->single = packed->has_old = false;
    const int dim = packed->dim, lanes = PACKED_LANES, turns = spin_width(dim);
    const int64_t needed[PACKED_ARRAYS] = {
        [PACKED_ROW] = packed->row_count * packed_stride(dim),
        [PACKED_OLD_ROW] = packed->row_count * packed_stride(dim),
        [PACKED_IMPULSE] = packed->batch_count * dim * lanes,
        [PACKED_OLD_IMPULSE] = packed->batch_count * dim * lanes,
        [PACKED_BALLS] = packed->slots[PACKED_BALL] * packed_fields(PACKED_BALL, dim) * lanes,
        [PACKED_BONDS] = packed->slots[PACKED_BOND] * packed_fields(PACKED_BOND, dim) * lanes,
        [PACKED_ROLLS] = packed->slots[PACKED_ROLL] * packed_fields(PACKED_ROLL, dim) * lanes,
        [PACKED_MOBILE_WALLS] =
            packed->slots[PACKED_MOBILE_WALL] * packed_fields(PACKED_MOBILE_WALL, dim) * lanes,
        [PACKED_SOLIDS] = packed->slots[PACKED_SOLID] * packed_fields(PACKED_SOLID, dim) * lanes,
        [PACKED_SPIN_SCALE] = dim == 2 ? packed->row_count : 0,
        [PACKED_TORQUE] = packed->slots[PACKED_ROLL] * turns * lanes,
        [PACKED_OLD_TORQUE] = packed->slots[PACKED_ROLL] * turns * lanes,
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
        for (int64_t r = 0; r < packed->row_count; r++) pack_row(packed, r);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < packed->batch_count; k++) pack_batch(packed, k);
    }
    return TALUS_OK;
}

// ---- one contact by itself ---------------------------------------------------------------------

static void load_row(const packed_problem* packed, int32_t r, double* body)
{
    const int dim = packed->dim;
    const double* row = packed->values[PACKED_ROW] + (int64_t)r * packed_stride(dim);
    const double* source =
        packed->problem->free + (int64_t)packed->body_of[r] * problem_stride(dim);
    if (dim == 3) {
        memcpy(body, row, 8 * sizeof(double));
        return;
    }
    vec_copy(2, body, row);
    body[row_im(2)] = row[3];
    body[row_w(2)] = row[2] / packed->values[PACKED_SPIN_SCALE][r];
    body[row_kim(2)] = source[row_kim(2)];
}

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

/// A problem of one contact between the rows 0 and 1 of `body`, whose laws are those of contact c.
static problem one_contact(const packed_problem* packed, int64_t c, double* body, double* row,
                           int32_t index[4])
{
    const problem* p = packed->problem;
    const int dim = p->dim;
    const int32_t block = problem_block_of(p, c), compound = problem_compound_of(p, c);
    const int64_t mobile = problem_mobile_wall(p, p->pair[2 * c]);
    index[0] = 0, index[1] = 1;
    index[2] = block < 0 ? -1 : 0, index[3] = compound < 0 ? -1 : 0;
    problem one = {.dim = dim, .rows = 2, .body = body, .count = 1, .pair = index, .contact = row};
    one.block = &index[2], one.compound = &index[3];
    if (block >= 0) one.blocks = problem_block(p, dim, c);
    if (compound >= 0) {
        one.compound_rows = &p->compound_rows[compound];
        one.compound_turns = &p->compound_turns[compound];
    }
    if (mobile >= 0) {
        one.mobile_count = 1;
        one.mobility = p->mobility + mobile * dim * dim;
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
    const int dim = packed->dim, stride = problem_stride(dim), width = problem_width(dim);
    const int64_t c = packed->source[batch * PACKED_LANES + lane];
    const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
    double body[16], row[10], dp[3];
    int32_t index[4];
    if (momentum) extrapolate_torque(packed, c, beta);
    memcpy(row, packed->problem->contact + c * width, sizeof(double) * (size_t)width);
    unpack_impulse(packed, row, y, row + contact_p(dim));
    load_row(packed, who[0], body);
    load_row(packed, who[PACKED_LANES], body + stride);
    problem one = one_contact(packed, c, body, row, index);
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
    const int dim = packed->dim, stride = problem_stride(dim), width = problem_width(dim);
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int64_t c = packed->source[batch * PACKED_LANES + lane];
        const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
        double body[16], row[10];
        int32_t index[4];
        if (c < 0) continue;
        memcpy(row, packed->problem->contact + c * width, sizeof(double) * (size_t)width);
        unpack_impulse(packed, row,
                       packed->values[PACKED_IMPULSE] + batch * dim * PACKED_LANES + lane,
                       row + contact_p(dim));
        load_row(packed, who[0], body);
        load_row(packed, who[PACKED_LANES], body + stride);
        problem one = one_contact(packed, c, body, row, index);
        problem_apply(&one, 0);
        store_row(packed, who[0], body);
        store_row(packed, who[PACKED_LANES], body + stride);
    }
}

// ---- sweeping ----------------------------------------------------------------------------------

/// Bytes that a thread copies at a time.
enum { COPY_BYTES = 1 << 18 };

static void copy_array(packed_problem* packed, packed_array to, packed_array from, int threads)
{
    const int64_t size =
        packed->length[from] * (int64_t)(packed->single ? sizeof(float) : sizeof(double));
    const char* source = packed->single ? (char*)packed->floats[from] : (char*)packed->values[from];
    char* target = packed->single ? (char*)packed->floats[to] : (char*)packed->values[to];
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t at = 0; at < size; at += COPY_BYTES) {
        memcpy(target + at, source + at, (size_t)(size - at < COPY_BYTES ? size - at : COPY_BYTES));
    }
}

void packed_remember(packed_problem* packed, int threads)
{
    threads = packed_threads(packed->count, threads);
    packed->has_old = true;
    memset(packed->held, 0, (size_t)packed->batch_count * PACKED_LANES);
    copy_array(packed, PACKED_OLD_ROW, PACKED_ROW, threads);
    copy_array(packed, PACKED_OLD_IMPULSE, PACKED_IMPULSE, threads);
    copy_array(packed, PACKED_OLD_TORQUE, PACKED_TORQUE, threads);
    for (int64_t k = 0; k < packed->problem->compound_count; k++) {
        vec_copy(3, packed->values[PACKED_OLD_COMPOUND] + 3 * k,
                 packed->problem->compound_rows[k].torque);
    }
}

void packed_forget(packed_problem* packed)
{
    const packed_array old[] = {PACKED_OLD_ROW, PACKED_OLD_IMPULSE};
    packed->has_old = false;
    for (int k = 0; k < 2 && packed->count > CONTACTS_TO_KEEP; k++) {
        free(packed->values[old[k]]);
        packed->values[old[k]] = NULL;
        packed->capacity[old[k]] = 0;
    }
}

/// Wait until a block has had this pass. Whoever does it may have lost its core: the one that waits
/// gives up its own meanwhile.
static void wait_for(const packed_problem* packed, int64_t block, uint32_t pass)
{
    while (__atomic_load_n(&packed->done[block], __ATOMIC_ACQUIRE) != pass) sched_yield();
}

/// Work on a block; `data` says how.
typedef void block_work(packed_problem* packed, int64_t block, const void* data);

/// A pass over all blocks.
typedef struct block_pass {
    packed_problem* packed;
    block_work* work;
    const void* data;
    uint32_t number;
} block_pass;

static void do_block(void* data, int64_t k)
{
    const block_pass* pass = data;
    packed_problem* packed = pass->packed;
    const packed_block* block = &packed->blocks[k];
    for (int i = 0; i < block->wait_count; i++) wait_for(packed, block->waits[i], pass->number);
    for (int64_t i = 0; i < k && block->wait_count < 0; i++) wait_for(packed, i, pass->number);
    pass->work(packed, k, pass->data);
    __atomic_store_n(&packed->done[k], pass->number, __ATOMIC_RELEASE);
}

/// Do all blocks but the tail. Threads take them in order, and every block waits for those that
/// touch the same bodies before it: to each body things happen in the order of one thread.
static void do_blocks(packed_problem* packed, block_work* work, const void* data, int threads)
{
    block_pass pass = {packed, work, data, ++packed->pass};
    if (threads > 1) {
        crew_do(&packed->crew, threads, packed->block_count, do_block, &pass);
    } else {
        for (int64_t k = 0; k < packed->block_count; k++) work(packed, k, data);
    }
}

/// A sweep over a block as it shall be done.
typedef struct sweep_task {
    packed_sweep_block* sweep;
    const packed_manner* manner;
} sweep_task;

static void sweep_one(packed_problem* packed, int64_t block, const void* data)
{
    const sweep_task* task = data;
    task->sweep(packed, block, task->manner, &packed->sums[block]);
}

packed_sums packed_sweep(packed_problem* packed, const packed_kernels* kernels,
                         const packed_manner* manner, int threads)
{
    const packed_kernels* one_lane = packed_kernels_for(TALUS_VECTOR_PORTABLE);
    const double unit = packed->single ? packed->velocity_unit * packed->impulse_unit : 1.0;
    packed_manner in_units = *manner;
    in_units.outlier /= unit;
    sweep_task task = {packed->single ? kernels->sweep_single : kernels->sweep, &in_units};
    do_blocks(packed, sweep_one, &task, packed_threads(packed->count, threads));
    task.sweep = packed->single ? one_lane->sweep_single : one_lane->sweep;
    sweep_one(packed, packed->block_count, &task);
    packed_sums all = {0};
    for (int64_t k = 0; k <= packed->block_count; k++) {
        all.change += packed->sums[k].change;
        all.step += packed->sums[k].step;
        all.turning += packed->sums[k].turning;
        all.impulse += packed->sums[k].impulse;
        all.skipped += packed->sums[k].skipped;
    }
    all.change *= unit, all.step *= unit, all.turning *= unit, all.impulse *= unit;
    return all;
}

static void apply_one(packed_problem* packed, int64_t block, const void* data)
{
    const packed_kernels* kernels = data;
    kernels->apply(packed, block);
}

void packed_apply(packed_problem* packed, const packed_kernels* kernels, int threads)
{
    threads = packed_threads(packed->count, threads);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t r = 0; r < packed->row_count; r++) pack_row(packed, r);
    do_blocks(packed, apply_one, kernels, threads);
    apply_one(packed, packed->block_count, packed_kernels_for(TALUS_VECTOR_PORTABLE));
}

// ---- back --------------------------------------------------------------------------------------

static void unpack_batch(const packed_problem* packed, int64_t batch)
{
    const int dim = packed->dim;
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int64_t c = packed->source[batch * PACKED_LANES + lane];
        if (c < 0) continue;
        double* row = packed->problem->contact + c * problem_width(dim);
        unpack_impulse(packed, row,
                       packed->values[PACKED_IMPULSE] + batch * dim * PACKED_LANES + lane,
                       row + contact_p(dim));
        if (packed->batches[batch].kind != PACKED_ROLL) continue;
        double* torque =
            packed->problem->compound_rows[problem_compound_of(packed->problem, c)].torque;
        for (int k = 0; k < spin_width(dim); k++) {
            torque[k] = packed_torque(packed, batch, lane)[k * PACKED_LANES];
        }
    }
}

/// Velocities of the sweep before, less or more those of this one.
static void move_old_rows(packed_problem* packed, double sign, int threads)
{
    const int64_t numbers = packed->has_old ? packed->length[PACKED_OLD_ROW] : 0;
    const double* row = packed->values[PACKED_ROW];
    double* old = packed->values[PACKED_OLD_ROW];
    threads = packed_threads(packed->count, threads);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t k = 0; k < numbers; k++) old[k] += sign * row[k];
}

void packed_show(const packed_problem* packed, int threads)
{
    const int dim = packed->dim;
    threads = packed_threads(packed->count, threads);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t k = 0; k < packed->batch_count; k++) unpack_batch(packed, k);
#pragma omp for schedule(static)
        for (int64_t r = 0; r < packed->row_count; r++) {
            if (packed->body_of[r] < 0 || packed->private_row[r]) continue;
            vec_copy(dim, packed->problem->body + (int64_t)packed->body_of[r] * problem_stride(dim),
                     packed->values[PACKED_ROW] + r * packed_stride(dim));
        }
    }
}

/// What rounding has made of the velocities is taken from those of the sweep before, too: left in
/// one of them, momentum would make it grow from sweep to sweep.
void packed_give_back(packed_problem* packed, const packed_kernels* kernels, int threads)
{
    problem* p = packed->problem;
    const int64_t numbers = p->rows * problem_stride(packed->dim);
    if (packed->single) {
        packed_refresh_single(packed, kernels, threads);
    } else {
        move_old_rows(packed, -1.0, threads);
        packed_apply(packed, kernels, threads);
        move_old_rows(packed, 1.0, threads);
    }
    threads = packed_threads(packed->count, threads);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t k = 0; k < packed->batch_count; k++) unpack_batch(packed, k);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < numbers; k++) p->body[k] = p->free[k];
#pragma omp for schedule(static)
        for (int64_t r = 0; r < packed->row_count; r++) {
            const int32_t body = packed->body_of[r];
            if (body < 0 || packed->private_row[r]) continue; // copies are equal to what is there
            load_row(packed, (int32_t)r, p->body + (int64_t)body * problem_stride(packed->dim));
        }
    }
}

/// Take the impulses of a batch from the problem.
static void load_impulses(packed_problem* packed, int64_t batch)
{
    const int dim = packed->dim;
    double* impulse = packed->values[PACKED_IMPULSE] + batch * dim * PACKED_LANES;
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int64_t c = packed->source[batch * PACKED_LANES + lane];
        if (c < 0) continue;
        const double* row = packed->problem->contact + c * problem_width(dim);
        pack_impulse(packed, row, row + contact_p(dim), impulse + lane);
    }
}

/// For a moment the packed impulses are what they change by, so that this is applied.
static void shift_one(packed_problem* packed, int64_t number, const void* data)
{
    const packed_kernels* kernels = data;
    const packed_block* block = &packed->blocks[number];
    const int count = packed->dim * PACKED_LANES;
    for (int64_t k = block->first; k < block->last; k++) {
        double *now = packed->values[PACKED_IMPULSE] + k * count,
               *old = packed->values[PACKED_OLD_IMPULSE] + k * count;
        double before[3 * PACKED_LANES];
        memcpy(before, now, sizeof(double) * (size_t)count);
        load_impulses(packed, k);
        for (int i = 0; i < count; i++) {
            now[i] -= before[i];
            old[i] += now[i];
        }
    }
    kernels->apply(packed, number);
    for (int64_t k = block->first; k < block->last; k++) load_impulses(packed, k);
}

void packed_shift(packed_problem* packed, const packed_kernels* kernels, int threads)
{
    memset(packed->open, 0, (size_t)packed->batch_count);
    move_old_rows(packed, -1.0, threads);
    do_blocks(packed, shift_one, kernels, packed_threads(packed->count, threads));
    shift_one(packed, packed->block_count, packed_kernels_for(TALUS_VECTOR_PORTABLE));
    move_old_rows(packed, 1.0, threads);
}
