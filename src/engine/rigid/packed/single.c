/// Packed values in single precision: the same arrays as floats, for sweeps that move half the
/// bytes and do twice the numbers in an instruction.
///
/// Floats have seven digits, which is enough for sweeps on the way, and a short range: squares of
/// the impulses of fine powder would be lost. So they are in units of their own,
/// powers of two, so that nothing but rounding to floats comes with them: the largest free velocity
/// and the geometric mean of the contacts' inverse responses, which are masses, become about 1.
#include "rigid/packed/packed.h"

#include "base/array.h"
#include "base/portable.h"

#include <math.h>
#include <stdlib.h>

/// Units of the fields of each array, one letter each: 1 none, v velocity, p impulse, m mass, i its
/// inverse, r a power of an impulse (roll.h: bounds that go like base^(1/2) in the plane and
/// base^(1/3) in space). NULL: there is no such array of floats.
static const char* units_of(packed_array array, int dim)
{
    switch (array) {
    case PACKED_ROW:
    case PACKED_OLD_ROW: return dim == 2 ? "vvvi" : "vvvivvvi";
    case PACKED_IMPULSE:
    case PACKED_OLD_IMPULSE:
    case PACKED_TORQUE:
    case PACKED_OLD_TORQUE: return "p";
    case PACKED_BALLS: return dim == 2 ? "11mmv1" : "111v1";
    case PACKED_BONDS: return dim == 2 ? "11mmv1pvv" : "111mmv1pvvvv";
    case PACKED_ROLLS: return dim == 2 ? "11mmv1pvv11iii1mmm1rv" : "111mmv1pvvvv11iii1mmm1r1rvvv";
    case PACKED_SOLIDS:
        return dim == 2 ? "11iv1iiimmm1111" : "111iv1iiiiiimmmmmm111111111111111111";
    case PACKED_SOLID_BONDS:
        return dim == 2 ? "11iv1pvv"
                          "iii1111"
                        : "111iv1pv111vv"
                          "iiiiii111111111111111111";
    case PACKED_SOLID_ROLLS:
        return dim == 2 ? "11iv1pvv"
                          "iiiiii1111"
                          "11rv11"
                        : "111iv1pv111vv"
                          "iiiiiiiiiiiiiiiiiiiii111111111111111111"
                          "11r1rvvv"
                          "111111111111111111";
    default: return NULL;
    }
}

static double unit_value(const packed_problem* packed, char unit)
{
    const double v = packed->velocity_unit, p = packed->impulse_unit;
    switch (unit) {
    case 'v': return v;
    case 'p': return p;
    case 'm': return p / v;
    case 'i': return v / p;
    case 'r': return packed->dim == 2 ? 1.0 / sqrt(p) : 1.0 / portable_cbrt(p);
    default: return 1.0;
    }
}

/// The largest free velocity, or bias if nothing moves.
static double velocity_scale(const problem* p)
{
    const int dim = p->dim, stride = problem_stride(dim), width = problem_width(dim);
    double velocity = 0.0, bias = 0.0;
    for (int64_t i = 0; i < p->rows; i++) {
        for (int k = 0; k < stride; k++) {
            const bool mobility = k == row_im(dim) || k == row_kim(dim);
            if (!mobility) velocity = fmax(velocity, fabs(p->free[i * stride + k]));
        }
    }
    for (int64_t c = 0; c < p->count; c++) {
        bias = fmax(bias, fabs(p->contact[c * width + contact_bias(dim)]));
    }
    return isnormal(velocity) ? velocity : isnormal(bias) ? bias : 1.0;
}

/// Geometric mean, to a power of two, of the contacts' inverse normal responses.
static double mass_scale(const problem* p)
{
    int64_t sum = 0, used = 0;
    for (int64_t c = 0; c < p->count; c++) {
        const double mn = p->contact[c * problem_width(p->dim) + contact_mn(p->dim)];
        if (!isnormal(mn)) continue;
        sum += ilogb(mn);
        used++;
    }
    return used > 0 ? ldexp(1.0, (int)(sum / used)) : 1.0;
}

void packed_single_free(packed_problem* packed)
{
    for (int k = 0; k < PACKED_ARRAYS; k++) free(packed->floats[k]);
}

/// Units of an array for a whole period of its fields.
typedef struct unit_table {
    int fields, repeat;
    double unit[80];
} unit_table;

static unit_table units_for(const packed_problem* packed, packed_array array)
{
    const char* letters = units_of(array, packed->dim);
    const bool rows = array == PACKED_ROW || array == PACKED_OLD_ROW; // one number of each unit
    unit_table out = {.repeat = rows ? 1 : PACKED_LANES};
    for (; letters[out.fields]; out.fields++) {
        out.unit[out.fields] = unit_value(packed, letters[out.fields]);
    }
    return out;
}

static void array_to_single(packed_problem* packed, packed_array array, int threads)
{
    const unit_table units = units_for(packed, array);
    const int64_t runs = packed->length[array] / units.repeat;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t run = 0; run < runs; run++) {
        const double unit = 1.0 / units.unit[run % units.fields];
        const double* from = packed->values[array] + run * units.repeat;
        float* to = packed->floats[array] + run * units.repeat;
        for (int k = 0; k < units.repeat; k++) to[k] = (float)(from[k] * unit);
    }
}

static void array_to_double(packed_problem* packed, packed_array array, int threads)
{
    const unit_table units = units_for(packed, array);
    const int64_t runs = packed->length[array] / units.repeat;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t run = 0; run < runs; run++) {
        const double unit = units.unit[run % units.fields];
        const float* from = packed->floats[array] + run * units.repeat;
        double* to = packed->values[array] + run * units.repeat;
        for (int k = 0; k < units.repeat; k++) to[k] = (double)from[k] * unit;
    }
}

talus_status packed_use_single(packed_problem* packed, int threads)
{
    threads = packed_threads(packed->count, threads);
    // Powers of two: nothing but rounding to floats comes with them.
    packed->velocity_unit = ldexp(1.0, ilogb(velocity_scale(packed->problem)));
    packed->impulse_unit = packed->velocity_unit * mass_scale(packed->problem);
    for (int k = 0; k < PACKED_ARRAYS; k++) {
        const packed_array array = (packed_array)k;
        if (!units_of(array, packed->dim)) continue;
        if (!arrays_renew(&packed->float_capacity[k], packed->length[k],
                          ARRAY(packed->floats[k]))) {
            return TALUS_ERR_MEMORY;
        }
        const bool filled =
            array != PACKED_OLD_ROW && array != PACKED_OLD_IMPULSE && array != PACKED_OLD_TORQUE;
        if (filled || packed->has_old) array_to_single(packed, array, threads);
    }
    packed->single = true;
    return TALUS_OK;
}

// ---- velocities of the impulses ----------------------------------------------------------------

static void swap_arrays(packed_problem* packed, packed_array a, packed_array b)
{
    double* values = packed->values[a];
    const int64_t capacity = packed->capacity[a];
    packed->values[a] = packed->values[b], packed->values[b] = values;
    packed->capacity[a] = packed->capacity[b], packed->capacity[b] = capacity;
}

/// Exchange all impulses with those of the sweep before.
static void swap_impulses(packed_problem* packed)
{
    swap_arrays(packed, PACKED_IMPULSE, PACKED_OLD_IMPULSE);
    swap_arrays(packed, PACKED_TORQUE, PACKED_OLD_TORQUE);
    for (int64_t k = 0; k < packed->problem->compound_count; k++) {
        double *now = packed->problem->compound_rows[k].torque,
               *old = packed->values[PACKED_OLD_COMPOUND] + 3 * k;
        for (int i = 0; i < 3; i++) {
            const double torque = now[i];
            now[i] = old[i], old[i] = torque;
        }
    }
}

void packed_refresh_single(packed_problem* packed, const packed_kernels* kernels, int threads)
{
    const int many = packed_threads(packed->count, threads);
    array_to_double(packed, PACKED_IMPULSE, many);
    array_to_double(packed, PACKED_TORQUE, many);
    if (packed->has_old) {
        array_to_double(packed, PACKED_OLD_IMPULSE, many);
        array_to_double(packed, PACKED_OLD_TORQUE, many);
        swap_impulses(packed);
        packed_apply(packed, kernels, threads);
        swap_impulses(packed);
        swap_arrays(packed, PACKED_ROW, PACKED_OLD_ROW);
        array_to_single(packed, PACKED_OLD_ROW, many);
    }
    packed_apply(packed, kernels, threads);
    array_to_single(packed, PACKED_ROW, many);
}

// ---- one contact by itself ---------------------------------------------------------------------

/// Rows of doubles are free to be written to while sweeps are in single precision; a block's rows
/// belong to it alone.
static void row_to_double(packed_problem* packed, int32_t r)
{
    const int stride = packed_stride(packed->dim);
    const char* letters = units_of(PACKED_ROW, packed->dim);
    for (int k = 0; k < stride; k++) {
        packed->values[PACKED_ROW][(int64_t)r * stride + k] =
            (double)packed->floats[PACKED_ROW][(int64_t)r * stride + k] *
            unit_value(packed, letters[k]);
    }
}

static void row_to_single(packed_problem* packed, int32_t r)
{
    const int stride = packed_stride(packed->dim);
    const char* letters = units_of(PACKED_ROW, packed->dim);
    for (int k = 0; k < stride; k++) {
        packed->floats[PACKED_ROW][(int64_t)r * stride + k] =
            (float)(packed->values[PACKED_ROW][(int64_t)r * stride + k] /
                    unit_value(packed, letters[k]));
    }
}

float packed_update_scalar_single(packed_problem* packed, int64_t batch, int lane, bool momentum,
                                  double beta, const float* y, float* x)
{
    const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
    double from[3 * PACKED_LANES], to[3 * PACKED_LANES];
    row_to_double(packed, who[0]);
    row_to_double(packed, who[PACKED_LANES]);
    for (int k = 0; k < packed->dim; k++) {
        from[k * PACKED_LANES] = (double)y[k * PACKED_LANES] * packed->impulse_unit;
    }
    const double wn = packed_update_scalar(packed, batch, lane, momentum, beta, from, to);
    for (int k = 0; k < packed->dim; k++) {
        x[k * PACKED_LANES] = (float)(to[k * PACKED_LANES] / packed->impulse_unit);
    }
    row_to_single(packed, who[0]);
    row_to_single(packed, who[PACKED_LANES]);
    return (float)(wn * packed->impulse_unit / packed->velocity_unit);
}
