/// Sparse block LU.
///
/// Contacts are eliminated in the order of approximate minimum degree (AMD, by way of KLU's
/// analysis); contacts of grains that share bodies fill the pattern of W so well that the factors
/// are hardly fuller than W itself. Row by row, with blocks L_ik, U_ij and pivots P_k = L_k U_k:
///     row_i = A_i;  for k in L_i ascending: L_ik = row_ik U_k^-1, row_ij -= L_ik U_kj for j > k;
///     U_ij = L_i^-1 row_ij
/// Pivots are split and divided by, never inverted: blocks whose own numbers differ by twelve
/// orders of magnitude keep their digits. They are exchanged inside the diagonal blocks only: with
/// its proximal term the matrix of Newton's method is far enough from singular. Rows of blocks of
/// three are padded to four lanes, those of six to eight.
#include "rigid/reduced/factor.h"

#include "base/array.h"

#include <klu.h>
#include <stdlib.h>
#include <string.h>

struct reduced_factor {
    const reduced_problem* p;
    bool avx2, symmetric;
    int64_t *order, *place;       ///< [count] contact of a row, row of a contact
    int64_t *upper_first, *upper; ///< [count + 1], columns above the diagonal, ascending
    int64_t *lower_first, *lower; ///< [count + 1], columns below it, ascending
    int64_t* next;                ///< [count] make_row()
    double products;              ///< of blocks in a factorisation
    double *U, *L;                ///< blocks of both
    double* pivot;                ///< [count] diagonal blocks, split
    int8_t* pivot_order;          ///< [count][WIDEST] order of their rows
    double* row;                  ///< [count] blocks of the row at hand
    double* input;                ///< blocks of one row of the matrix
    double* y;                    ///< [count][width]
};

/// Widest block, and doubles from one row of a block to the next.
enum { WIDEST = 6, STRIDE = 8 };
/// Blocks of one factor beyond which it is hopeless: 0.8 GB for both of three components.
enum { MOST_BLOCKS = 4000000 };
static ALWAYS_INLINE int stride_of(const int width)
{
    return width == 3 ? 4 : (width == 6 ? 8 : width);
}

static ALWAYS_INLINE int64_t block_size(const int width)
{
    return width * stride_of(width);
}

void reduced_factor_free(reduced_factor* f)
{
    if (!f) return;
    free(f->order);
    free(f->pivot_order);
    free(f->upper);
    free(f->U);
    free(f);
}

double reduced_factor_products(const reduced_factor* f)
{
    return f->products;
}

// ---- order and pattern -------------------------------------------------------------------------

/// Approximate minimum degree; false when memory is short.
static bool find_order(reduced_factor* f)
{
    const int64_t n = f->p->count, blocks = f->p->first[n];
    klu_l_common common;
    klu_l_defaults(&common);
    common.btf = 0; // the order alone, the same for rows and columns
    int64_t* column = malloc(sizeof *column * (size_t)(blocks + 1));
    if (!column) return false;
    for (int64_t b = 0; b < blocks; b++) column[b] = f->p->column[b];
    klu_l_symbolic* symbolic = klu_l_analyze(n, f->p->first, column, &common);
    free(column);
    if (!symbolic) return false;
    for (int64_t i = 0; i < n; i++) {
        f->order[i] = symbolic->Q[i];
        f->place[symbolic->Q[i]] = i;
    }
    klu_l_free_symbolic(&symbolic, &common);
    return true;
}

static int ascending(const void* a, const void* b)
{
    const int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
    return (x > y) - (x < y);
}

/// What it takes to find the pattern of U.
typedef struct tree {
    int64_t* seen;                  ///< [count] the last row that met a column
    int64_t *child, *sibling;       ///< [count] rows whose first column is that of a row
    int64_t *turned_first, *turned; ///< W transposed: its pattern need not be symmetric
} tree;

/// Columns of the transposed pattern.
static void turn_pattern(const reduced_problem* p, const tree* t)
{
    memset(t->turned_first, 0, sizeof *t->turned_first * (size_t)(p->count + 1));
    for (int64_t b = 0; b < p->first[p->count]; b++) t->turned_first[p->column[b] + 1]++;
    for (int64_t c = 0; c < p->count; c++) t->turned_first[c + 1] += t->turned_first[c];
    for (int64_t c = p->count - 1; c >= 0; c--) { // from behind: the ends become the beginnings
        for (int64_t b = p->first[c]; b < p->first[c + 1]; b++) {
            t->turned[--t->turned_first[p->column[b] + 1]] = c;
        }
    }
    memmove(t->turned_first, t->turned_first + 1, sizeof *t->turned_first * (size_t)p->count);
    t->turned_first[p->count] = p->first[p->count];
}

/// Note column j of row i in `out`, if it is one of U and new; returns how many that are.
static int meet(const tree* t, int64_t i, int64_t j, int64_t* out)
{
    if (j < i || t->seen[j] == i) return 0;
    t->seen[j] = i;
    *out = j;
    return 1;
}

/// Columns of row i of U: those of W, either way, and those of earlier rows whose first column is
/// i.
static int64_t list_upper(const reduced_factor* f, const tree* t, int64_t i, int64_t* out)
{
    const reduced_problem* p = f->p;
    const int64_t c = f->order[i];
    int64_t count = 0;
    t->seen[i] = i;
    for (int64_t b = p->first[c]; b < p->first[c + 1]; b++) {
        count += meet(t, i, f->place[p->column[b]], out + count);
    }
    for (int64_t b = t->turned_first[c]; b < t->turned_first[c + 1]; b++) {
        count += meet(t, i, f->place[t->turned[b]], out + count);
    }
    for (int64_t k = t->child[i]; k >= 0; k = t->sibling[k]) {
        for (int64_t b = f->upper_first[k]; b < f->upper_first[k + 1]; b++) {
            count += meet(t, i, f->upper[b], out + count);
        }
    }
    qsort(out, (size_t)count, sizeof *out, ascending);
    return count;
}

/// The pattern of U, growing as it goes.
static bool find_upper(reduced_factor* f, const tree* t)
{
    const int64_t n = f->p->count;
    int64_t capacity = 0;
    f->upper_first[0] = 0;
    for (int64_t i = 0; i < n; i++) t->seen[i] = t->child[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = f->upper_first[i];
        if (!arrays_grow(&capacity, first + n, ROWS(f->upper, 2))) return false; // L's, too
        const int64_t count = list_upper(f, t, i, f->upper + first);
        f->upper_first[i + 1] = first + count;
        if (first + count > MOST_BLOCKS) return false;
        if (count == 0) continue;
        const int64_t parent = f->upper[first];
        t->sibling[i] = t->child[parent];
        t->child[parent] = i;
    }
    return true;
}

/// The pattern of L is that of U transposed; count the products on the way.
static void find_lower(reduced_factor* f)
{
    const int64_t n = f->p->count, blocks = f->upper_first[n];
    f->lower = f->upper + blocks;
    memset(f->lower_first, 0, sizeof *f->lower_first * (size_t)(n + 1));
    for (int64_t b = 0; b < blocks; b++) f->lower_first[f->upper[b] + 1]++;
    for (int64_t i = 0; i < n; i++) f->lower_first[i + 1] += f->lower_first[i];
    for (int64_t k = n - 1; k >= 0; k--) { // from behind: the ends become the beginnings
        const int64_t count = f->upper_first[k + 1] - f->upper_first[k];
        f->products += (double)count * (double)(count + 2);
        for (int64_t b = f->upper_first[k]; b < f->upper_first[k + 1]; b++) {
            f->lower[--f->lower_first[f->upper[b] + 1]] = k;
        }
    }
    memmove(f->lower_first, f->lower_first + 1, sizeof *f->lower_first * (size_t)n);
    f->lower_first[n] = blocks;
}

static bool find_pattern(reduced_factor* f)
{
    const int64_t n = f->p->count;
    int64_t* rows = malloc(sizeof *rows * (size_t)(4 * n + 1 + f->p->first[n]));
    const tree t = {rows, rows + n, rows + 2 * n, rows + 3 * n, rows + 4 * n + 1};
    if (rows) turn_pattern(f->p, &t);
    const bool good = rows && find_upper(f, &t);
    free(rows);
    if (good) find_lower(f);
    return good;
}

/// Room for the numbers.
static bool make_room(reduced_factor* f)
{
    const int w = f->p->width;
    const int64_t n = f->p->count, blocks = f->upper_first[n], size = block_size(w);
    int64_t longest = 0;
    for (int64_t c = 0; c < n; c++) {
        const int64_t length = f->p->first[c + 1] - f->p->first[c];
        longest = length > longest ? length : longest;
    }
    const int64_t doubles = (2 * blocks + 2 * n) * size + longest * w * w + n * w + 4;
    f->U = aligned_alloc(64, (sizeof(double) * (size_t)doubles + 63) / 64 * 64);
    if (!f->U) return false;
    f->L = f->U + blocks * size;
    f->pivot = f->L + blocks * size;
    f->row = f->pivot + n * size;
    f->input = f->row + n * size;
    f->y = f->input + longest * w * w;
    // Lanes that only pad a row must hold numbers.
    memset(f->U, 0, sizeof(double) * (size_t)((2 * blocks + 2 * n) * size));
    return true;
}

reduced_factor* reduced_factor_new(const reduced_problem* p, bool avx2)
{
    const int64_t n = p->count;
    reduced_factor* f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->p = p;
    f->avx2 = avx2;
    f->order = malloc(sizeof *f->order * (size_t)(5 * n + 2));
    f->pivot_order = malloc(sizeof *f->pivot_order * (size_t)(n * WIDEST + 1));
    if (f->order && f->pivot_order) {
        f->place = f->order + n;
        f->upper_first = f->place + n;
        f->lower_first = f->upper_first + n + 1;
        f->next = f->lower_first + n + 1;
        if (find_order(f) && find_pattern(f)) return f;
    }
    reduced_factor_free(f);
    return NULL;
}

// ---- numbers -----------------------------------------------------------------------------------

/// C -= A B
static ALWAYS_INLINE void subtract_product(const int width, const int lanes, const double* A,
                                           const double* B, double* C)
{
    const int stride = stride_of(width);
    for (int i = 0; i < width && stride == 8 && lanes == 8; i++) { // whole rows at a time
        reduced_lanes_8 sum = {0.0};
        reduced_loose_8* out = (reduced_loose_8*)(C + i * 8);
        for (int k = 0; k < width; k++) sum += A[i * 8 + k] * *(const reduced_loose_8*)(B + k * 8);
        *out -= sum;
    }
    if (stride == 8 && lanes == 8) return;
    for (int i = 0; i < width; i++) {
        int j = 0;
        for (; j + 4 <= stride; j += 4) {
            reduced_lanes sum = {0.0};
            reduced_loose* out = (reduced_loose*)(C + i * stride + j);
            for (int k = 0; k < width; k++) {
                sum += A[i * stride + k] * *(const reduced_loose*)(B + k * stride + j);
            }
            *out -= sum;
        }
        for (; j < stride; j++) {
            double sum = 0.0;
            for (int k = 0; k < width; k++) sum += A[i * stride + k] * B[k * stride + j];
            C[i * stride + j] -= sum;
        }
    }
}

/// A = P^T L U of a diagonal block: L without its diagonal of ones and U with inverted diagonal, in
/// one block, and the rows of A in the order of P. Of a symmetric block U = D L^T and P = 1; false
/// if a pivot is 0 or no number.
static ALWAYS_INLINE bool split(const int width, bool symmetric, const double* A, double* LU,
                                int8_t* order)
{
    const int stride = stride_of(width);
    for (int i = 0; i < width; i++) {
        order[i] = (int8_t)i;
        for (int j = 0; j < width; j++) LU[i * stride + j] = A[i * stride + j];
    }
    for (int c = 0; c < width; c++) {
        int best = c;
        for (int i = c + 1; i < width && !symmetric; i++) {
            best = fabs(LU[i * stride + c]) > fabs(LU[best * stride + c]) ? i : best;
        }
        for (int j = 0; j < width && best != c; j++) {
            const double keep = LU[c * stride + j];
            LU[c * stride + j] = LU[best * stride + j], LU[best * stride + j] = keep;
        }
        const int8_t row = order[c];
        order[c] = order[best], order[best] = row;
        if (!(fabs(LU[c * stride + c]) > 0.0)) return false;
        const double inverse = 1.0 / LU[c * stride + c];
        LU[c * stride + c] = inverse;
        for (int i = c + 1; i < width; i++) {
            const double factor = LU[i * stride + c] * inverse;
            for (int j = c + 1; j < width; j++) LU[i * stride + j] -= factor * LU[c * stride + j];
            LU[i * stride + c] = factor;
        }
    }
    return true;
}

/// B = L^-1 P A of a split block
static ALWAYS_INLINE void divide_lower(const int width, const double* LU, const int8_t* order,
                                       const double* A, double* B)
{
    const int stride = stride_of(width);
    for (int i = 0; i < width; i++) {
        for (int j = 0; j < stride; j++) B[i * stride + j] = A[order[i] * stride + j];
        for (int k = 0; k < i; k++) {
            const double l = LU[i * stride + k];
            for (int j = 0; j < stride; j++) B[i * stride + j] -= l * B[k * stride + j];
        }
    }
}

/// B = A U^-1 of a split block
static ALWAYS_INLINE void divide_upper(const int width, const double* LU, const double* A,
                                       double* B)
{
    const int stride = stride_of(width);
    for (int i = 0; i < width; i++) {
        for (int j = 0; j < stride; j++) B[i * stride + j] = A[i * stride + j];
        for (int k = 0; k < width; k++) {
            const double b = B[i * stride + k] *= LU[k * stride + k];
            for (int j = k + 1; j < width; j++) B[i * stride + j] -= b * LU[k * stride + j];
        }
    }
}

/// B = A^T D^-1, where a symmetric block was split into L D L^T
static ALWAYS_INLINE void turn_and_divide(const int width, const double* LU, const double* A,
                                          double* B)
{
    const int stride = stride_of(width);
    for (int i = 0; i < width; i++) {
        for (int j = 0; j < width; j++) {
            B[i * stride + j] = A[j * stride + i] * LU[j * stride + j];
        }
    }
}

/// Put row i of the matrix into f->row, zeros where only the factors have a block.
static ALWAYS_INLINE void scatter(const int width, reduced_factor* f, int64_t i)
{
    const int stride = stride_of(width);
    const int64_t size = block_size(width), c = f->order[i], first = f->p->first[c];
    double* row = f->row;
    const size_t bytes = sizeof(double) * (size_t)size;
    for (int64_t b = f->lower_first[i]; b < f->lower_first[i + 1] && !f->symmetric; b++) {
        memset(row + f->lower[b] * size, 0, bytes);
    }
    for (int64_t b = f->upper_first[i]; b < f->upper_first[i + 1]; b++) {
        memset(row + f->upper[b] * size, 0, bytes);
    }
    for (int64_t b = first; b < f->p->first[c + 1]; b++) {
        const double* in = f->input + (b - first) * width * width;
        double* out = row + f->place[f->p->column[b]] * size;
        for (int k = 0; k < width; k++) {
            for (int j = 0; j < width; j++) out[k * stride + j] = in[k * width + j];
        }
    }
}

/// Row i of the factors. Of a symmetric matrix L_ik = U_ki^T D_k^-1, and what is left of the
/// diagonal need not be worked out; next[k] is the column of U_k that is met next.
static ALWAYS_INLINE bool make_row(const int width, const int lanes, reduced_factor* f, int64_t i)
{
    const int64_t size = block_size(width);
    for (int64_t b = f->lower_first[i]; b < f->lower_first[i + 1]; b++) {
        const int64_t k = f->lower[b];
        double* L = f->L + b * size;
        int64_t u = f->upper_first[k];
        if (f->symmetric) {
            u = f->next[k]++;
            turn_and_divide(width, f->pivot + k * size, f->U + u * size, L);
        } else {
            divide_upper(width, f->pivot + k * size, f->row + k * size, L);
        }
        for (; u < f->upper_first[k + 1]; u++) {
            subtract_product(width, lanes, L, f->U + u * size, f->row + f->upper[u] * size);
        }
    }
    double* pivot = f->pivot + i * size;
    int8_t* order = f->pivot_order + i * WIDEST;
    if (!split(width, f->symmetric, f->row + i * size, pivot, order)) return false;
    for (int64_t u = f->upper_first[i]; u < f->upper_first[i + 1]; u++) {
        divide_lower(width, pivot, order, f->row + f->upper[u] * size, f->U + u * size);
    }
    return true;
}

static ALWAYS_INLINE bool make_of(const int width, const int lanes, reduced_factor* f,
                                  reduced_factor_row* row, const void* data)
{
    for (int64_t i = 0; i < f->p->count; i++) {
        row(data, f->order[i], f->input);
        scatter(width, f, i);
        if (!make_row(width, lanes, f, i)) return false;
    }
    return true;
}

static ALWAYS_INLINE bool make_any(reduced_factor* f, reduced_factor_row* row, const void* data)
{
    switch (f->p->width) {
    case 2: return make_of(2, 4, f, row, data);
    case 3: return make_of(3, 4, f, row, data);
    case 5: return make_of(5, 4, f, row, data);
    default: return make_of(6, 4, f, row, data);
    }
}

FOR_AVX2 static bool make_avx2(reduced_factor* f, reduced_factor_row* row, const void* data)
{
    return make_any(f, row, data);
}

FOR_AVX512 static bool make_avx512_6(reduced_factor* f, reduced_factor_row* row, const void* data)
{
    return make_of(6, 8, f, row, data);
}

bool reduced_factor_make(reduced_factor* f, bool symmetric, reduced_factor_row* row,
                         const void* data)
{
    if (!f->U && !make_room(f)) return false;
    f->symmetric = symmetric;
    memcpy(f->next, f->upper_first, sizeof *f->next * (size_t)f->p->count);
    if (f->avx2 && f->p->width == 6 && vector_width_is_there(TALUS_VECTOR_AVX512))
        return make_avx512_6(f, row, data);
    return f->avx2 ? make_avx2(f, row, data) : make_any(f, row, data);
}

/// y [width] -= A x. Rows of six by twos of lanes: sums of three products each.
static ALWAYS_INLINE void subtract_times(const int width, const double* A, const double* x,
                                         double* y)
{
    if (width == 6) {
        const reduced_lanes low = *(const reduced_loose*)x, high = {x[4], x[5], 0.0, 0.0};
        for (int i = 0; i < 6; i++) {
            const reduced_loose* row = (const reduced_loose*)(A + i * 8);
            const reduced_lanes sum = row[0] * low + row[1] * high;
            y[i] -= (sum[0] + sum[2]) + (sum[1] + sum[3]);
        }
        return;
    }
    for (int i = 0; i < width; i++) y[i] -= vec_dot(width, A + i * stride_of(width), x);
}

static ALWAYS_INLINE void solve_of(const int w, const reduced_factor* f, double* x)
{
    const int64_t n = f->p->count, size = block_size(w);
    const int stride = stride_of(w);
    double *y = f->y, sum[WIDEST];
    for (int64_t i = 0; i < n; i++) {
        const double* pivot = f->pivot + i * size;
        vec_copy(w, sum, x + f->order[i] * w);
        for (int64_t b = f->lower_first[i]; b < f->lower_first[i + 1]; b++) {
            subtract_times(w, f->L + b * size, y + f->lower[b] * w, sum);
        }
        for (int k = 0; k < w; k++) {
            y[i * w + k] =
                sum[f->pivot_order[i * WIDEST + k]] - vec_dot(k, pivot + k * stride, y + i * w);
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        const double* pivot = f->pivot + i * size;
        for (int64_t b = f->upper_first[i]; b < f->upper_first[i + 1]; b++) {
            subtract_times(w, f->U + b * size, y + f->upper[b] * w, y + i * w);
        }
        for (int k = w - 1; k >= 0; k--) {
            for (int j = k + 1; j < w; j++) y[i * w + k] -= pivot[k * stride + j] * y[i * w + j];
            y[i * w + k] *= pivot[k * stride + k];
        }
    }
    for (int64_t i = 0; i < n; i++) vec_copy(w, x + f->order[i] * w, y + i * w);
}

static ALWAYS_INLINE void solve_any(const reduced_factor* f, double* x)
{
    switch (f->p->width) {
    case 2: solve_of(2, f, x); break;
    case 3: solve_of(3, f, x); break;
    case 5: solve_of(5, f, x); break;
    default: solve_of(6, f, x); break;
    }
}

FOR_AVX2 static void solve_avx2(const reduced_factor* f, double* x)
{
    solve_any(f, x);
}

void reduced_factor_solve(const reduced_factor* f, double* x)
{
    if (f->avx2) {
        solve_avx2(f, x);
    } else {
        solve_any(f, x);
    }
}
