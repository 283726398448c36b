/// Does everything stick? A tower, a wall, masonry at rest: then W r = -q, and of all impulses that
/// solve it the shortest is the most likely to be inside all cones.
///
/// Blocks of masonry touch at several points, and contacts of the same two bodies see all others
/// through the six motions of these two only. So with groups g of contacts that have the same
/// columns, W_gh = P_g C_gh P_h^T with an orthonormal basis P_g of six columns, of the range of
/// W_gg. The shortest solution is r = P y with the shortest y of C y = -P^T q, a system of a third
/// of the size. (C + shift) is factorised exactly, block by block; a shift that is small beside all
/// eigenvalues of the range gives the shortest y, and a few corrections make it exact.
/// Only for contacts of three components, and where groups are large enough for it to pay.
#include "rigid/reduced/factor.h"
#include "rigid/reduced/methods.h"

#include <stdlib.h>
#include <string.h>

enum {
    RANK = 6,         ///< motions of two bodies
    LANES = 8,        ///< doubles of a row of P: RANK, padded with zeros
    SIZE = 3 * LANES, ///< doubles of a contact's rows of P
    LARGEST = 16,     ///< contacts of a group, at most
    LEAST_MEAN = 3,   ///< contacts of a group, on average, for it to pay
    CORRECTIONS = 6,
};
/// Share of the mean diagonal element of C that is added to it; a column of a basis that is shorter
/// than this part of the longest one is rounding.
static const double SHIFT = 1e-7, DEPENDENT = 1e-9;

typedef struct sticker {
    const reduced_work* work;
    reduced_problem small; ///< C; width RANK, q = P^T q
    int64_t* member;       ///< [groups + 1] first contact of each
    int32_t* group;        ///< [count] of each contact
    double* P;             ///< [count][3][LANES]
    double *y, *left;      ///< [groups][RANK]
    int64_t* next;         ///< [groups] block of a row that is met next
    double shift;
} sticker;

// ---- groups ------------------------------------------------------------------------------------

static bool same_columns(const reduced_problem* p, int64_t a, int64_t b)
{
    const int64_t length = p->first[a + 1] - p->first[a];
    return length == p->first[b + 1] - p->first[b] &&
           memcmp(p->column + p->first[a], p->column + p->first[b],
                  sizeof *p->column * (size_t)length) == 0;
}

/// Contacts that follow each other and have the same columns; false if that does not pay.
static bool find_groups(sticker* s)
{
    const reduced_problem* p = s->work->p;
    int64_t groups = 0;
    for (int64_t c = 0; c < p->count; c++) {
        if (c == 0 || c - s->member[groups - 1] == LARGEST || !same_columns(p, c - 1, c)) {
            s->member[groups++] = c;
        }
        s->group[c] = (int32_t)(groups - 1);
    }
    s->member[groups] = p->count;
    s->small.count = groups;
    return groups * LEAST_MEAN <= p->count;
}

/// Groups that group g touches, to `column` if it is not NULL; 0 if one of them is touched in part
/// only, which no bodies do.
static int64_t list_columns(const sticker* s, int64_t g, int32_t* column)
{
    const reduced_problem* p = s->work->p;
    const int64_t c = s->member[g];
    int64_t count = 0;
    for (int64_t b = p->first[c]; b < p->first[c + 1];) {
        const int32_t h = s->group[p->column[b]];
        const int64_t first = s->member[h], size = s->member[h + 1] - first;
        if (b + size > p->first[c + 1] || p->column[b] != first ||
            p->column[b + size - 1] != first + size - 1) {
            return 0;
        }
        if (column) column[count] = h;
        count++;
        b += size;
    }
    return count;
}

// ---- bases -------------------------------------------------------------------------------------

enum { COLUMN = 3 * LARGEST / 4 }; ///< fours of numbers in a column of W_gg, at most

static ALWAYS_INLINE double sum_of(const reduced_lanes* lanes)
{
    const double* x = (const double*)lanes;
    return (x[0] + x[2]) + (x[1] + x[3]);
}

/// Take the direction e out of x, both of m fours; returns the square of what is left.
static ALWAYS_INLINE double take_out(int m, const reduced_lanes* e, reduced_lanes* x)
{
    reduced_lanes product = {0.0}, square = {0.0};
    for (int i = 0; i < m; i++) product += e[i] * x[i];
    const double along = sum_of(&product);
    for (int i = 0; i < m; i++) {
        x[i] -= along * e[i];
        square += x[i] * x[i];
    }
    return sum_of(&square);
}

/// Orthonormal basis of the range of W_gg by Gram and Schmidt, the longest column first; false if
/// it has more than RANK dimensions. Columns that are not needed stay zero.
static ALWAYS_INLINE bool find_basis(sticker* s, int64_t g)
{
    const int64_t first = s->member[g];
    const int n = (int)(3 * (s->member[g + 1] - first)), m = (n + 3) / 4;
    reduced_lanes x[3 * LARGEST][COLUMN], e[COLUMN]; // x[j] = column j
    double square[3 * LARGEST], longest = 0.0;
    // The columns x [n][m fours] of W_gg, padded with zeros, and the squares of their lengths.
    const reduced_problem* p = s->work->p;
    const int64_t own = s->work->diagonal[first] - p->first[first];
    for (int j = 0; j < n; j++) x[j][m - 1] = (reduced_lanes){0.0};
    for (int i = 0; i < n; i++) {
        const double* row = p->block + (p->first[first + i / 3] + own) * 9 + i % 3 * 3;
        for (int j = 0; j < n; j++) ((double*)x[j])[i] = row[j / 3 * 9 + j % 3];
    }
    for (int j = 0; j < n; j++) {
        reduced_lanes sum = {0.0};
        for (int i = 0; i < m; i++) sum += x[j][i] * x[j][i];
        square[j] = sum_of(&sum);
    }
    for (int k = 0; k <= RANK; k++) {
        int best = 0;
        for (int j = 1; j < n; j++) best = square[j] > square[best] ? j : best;
        if (k == 0) longest = square[best];
        if (square[best] <= DEPENDENT * DEPENDENT * longest) return true;
        if (k == RANK) return false;
        const double scale = 1.0 / sqrt(square[best]);
        for (int i = 0; i < m; i++) e[i] = scale * x[best][i];
        for (int j = 0; j < n; j++) square[j] = take_out(m, e, x[j]);
        for (int i = 0; i < n; i++) s->P[(3 * first + i) * LANES + k] = ((const double*)e)[i];
    }
    return true;
}

static ALWAYS_INLINE bool find_bases(sticker* s)
{
    for (int64_t g = 0; g < s->small.count; g++) {
        if (!find_basis(s, g)) return false;
    }
    return true;
}

FOR_AVX2 static bool find_bases_avx2(sticker* s)
{
    return find_bases(s);
}

// ---- the small system --------------------------------------------------------------------------

/// C_gh = P_g^T W_gh P_h, where the blocks of h begin `at` blocks after the first of a row of g.
static ALWAYS_INLINE void fill_block(const sticker* s, int64_t g, int64_t h, int64_t at, double* C)
{
    const reduced_problem* p = s->work->p;
    reduced_lanes sum[RANK][2] = {{{0.0}}};
    for (int64_t c = s->member[g]; c < s->member[g + 1]; c++) {
        const double *Pc = s->P + c * SIZE, *W = p->block + (p->first[c] + at) * 9;
        reduced_lanes T[3][2] = {{{0.0}}}; // W_ch P_h
        for (int64_t d = s->member[h]; d < s->member[h + 1]; d++, W += 9) {
            const reduced_loose* Pd = (const reduced_loose*)(s->P + d * SIZE);
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) {
                    T[i][0] += W[i * 3 + j] * Pd[2 * j];
                    T[i][1] += W[i * 3 + j] * Pd[2 * j + 1];
                }
            }
        }
        for (int k = 0; k < RANK; k++) {
            for (int i = 0; i < 3; i++) {
                sum[k][0] += Pc[i * LANES + k] * T[i][0];
                sum[k][1] += Pc[i * LANES + k] * T[i][1];
            }
        }
    }
    for (int k = 0; k < RANK; k++) {
        for (int l = 0; l < RANK; l++) C[k * RANK + l] = sum[k][l / 4][l % 4];
    }
}

/// The small q, and half of C; the other half is the same. False if it has another pattern.
static ALWAYS_INLINE bool fill_small(sticker* s)
{
    reduced_problem* C = &s->small;
    double trace = 0.0;
    for (int64_t g = 0; g < C->count; g++) s->next[g] = C->first[g];
    for (int64_t g = 0; g < C->count; g++) {
        int64_t at = 0;
        for (int64_t b = C->first[g]; b < C->first[g + 1]; b++) {
            const int32_t h = C->column[b];
            double* block = C->block + b * RANK * RANK;
            if (h >= g) fill_block(s, g, h, at, block);
            at += s->member[h + 1] - s->member[h];
            if (h >= g) {
                const int64_t mirror = s->next[h]++;
                if (mirror >= C->first[h + 1] || C->column[mirror] != g) return false;
                double* other = C->block + mirror * RANK * RANK;
                for (int k = 0; k < RANK * RANK && h > g; k++) {
                    other[k] = block[k % RANK * RANK + k / RANK];
                }
            }
            for (int k = 0; k < RANK && h == g; k++) trace += block[k * (RANK + 1)];
        }
        for (int k = 0; k < RANK; k++) {
            double sum = 0.0;
            for (int64_t i = 3 * s->member[g]; i < 3 * s->member[g + 1]; i++) {
                sum += s->P[i * LANES + k] * s->work->p->q[i];
            }
            C->q[g * RANK + k] = sum;
        }
    }
    s->shift = SHIFT * trace / (double)(C->count * RANK);
    return true;
}

FOR_AVX2 static bool fill_small_avx2(sticker* s)
{
    return fill_small(s);
}

/// Row g of C + shift, for reduced_factor_make().
static void shifted_row(const void* data, int64_t g, double* out)
{
    const sticker* s = data;
    const reduced_problem* C = &s->small;
    const int64_t first = C->first[g], count = C->first[g + 1] - first;
    memcpy(out, C->block + first * RANK * RANK, sizeof(double) * (size_t)(count * RANK * RANK));
    for (int64_t b = 0; b < count; b++, out += RANK * RANK) {
        for (int k = 0; k < RANK && C->column[first + b] == g; k++) out[k * (RANK + 1)] += s->shift;
    }
}

/// left = -(C y + q); returns its square.
static double find_left(sticker* s)
{
    const reduced_problem* C = &s->small;
    double sum = 0.0;
    for (int64_t g = 0; g < C->count; g++) {
        double u[RANK];
        for (int k = 0; k < RANK; k++) u[k] = C->q[g * RANK + k];
        for (int64_t b = C->first[g]; b < C->first[g + 1]; b++) {
            const double* y = s->y + (int64_t)C->column[b] * RANK;
            for (int k = 0; k < RANK; k++)
                u[k] += vec_dot(RANK, C->block + (b * RANK + k) * RANK, y);
        }
        for (int k = 0; k < RANK; k++) {
            s->left[g * RANK + k] = -u[k];
            sum += u[k] * u[k];
        }
    }
    return sum;
}

/// y of C y = -P^T q; false if there is none.
static bool solve_small(sticker* s, double tolerance)
{
    const int64_t n = s->small.count * RANK;
    reduced_factor* factor = reduced_factor_new(&s->small, s->work->avx2);
    if (!factor) return false;
    bool good = reduced_factor_make(factor, true, shifted_row, s);
    double first = find_left(s), now = first;
    for (int i = 0; i < CORRECTIONS && good && now > 0.01 * tolerance * tolerance * first; i++) {
        reduced_factor_solve(factor, s->left);
        for (int64_t k = 0; k < n; k++) s->y[k] += s->left[k];
        now = find_left(s);
    }
    reduced_factor_free(factor);
    return good && now <= 0.01 * tolerance * tolerance * first;
}

// ---- the method --------------------------------------------------------------------------------

/// Groups, bases and the pattern of C; false if it does not pay or memory is short.
static bool sticker_start(sticker* s)
{
    const reduced_problem* p = s->work->p;
    const size_t count = (size_t)p->count;
    s->member = malloc(sizeof *s->member * (2 * count + 1));
    s->group = malloc(sizeof *s->group * (count + 1));
    if (!s->member || !s->group || !find_groups(s)) return false;
    const int64_t n = s->small.count * RANK;
    s->next = s->member + count + 1;
    s->small.width = RANK;
    s->small.first = malloc(sizeof *s->small.first * (size_t)(s->small.count + 1));
    s->small.q = malloc(sizeof(double) * (size_t)n);
    s->P = calloc(count * SIZE + 2 * (size_t)n, sizeof(double));
    if (!s->small.first || !s->small.q || !s->P) return false;
    s->y = s->P + count * SIZE;
    s->left = s->y + n;
    s->small.first[0] = 0;
    for (int64_t g = 0; g < s->small.count; g++) {
        const int64_t blocks = list_columns(s, g, NULL);
        if (blocks == 0) return false;
        s->small.first[g + 1] = s->small.first[g] + blocks;
    }
    if (!(s->work->avx2 ? find_bases_avx2(s) : find_bases(s))) return false;
    const size_t blocks = (size_t)s->small.first[s->small.count];
    s->small.column = malloc(sizeof *s->small.column * blocks);
    s->small.block = malloc(sizeof(double) * blocks * RANK * RANK);
    return s->small.column && s->small.block;
}

bool reduced_stick(const reduced_work* work, reduced_run* run, double* r)
{
    const reduced_problem* p = work->p;
    sticker s = {.work = work};
    bool good = p->width == 3 && p->count >= LEAST_MEAN && sticker_start(&s);
    if (good) {
        for (int64_t g = 0; g < s.small.count; g++) {
            list_columns(&s, g, s.small.column + s.small.first[g]);
        }
        good =
            (work->avx2 ? fill_small_avx2(&s) : fill_small(&s)) && solve_small(&s, run->tolerance);
    }
    double* x = good ? malloc(sizeof(double) * (size_t)(3 * p->count)) : NULL;
    for (int64_t i = 0; x && i < 3 * p->count; i++) {
        x[i] = vec_dot(RANK, s.P + i * LANES, s.y + (int64_t)s.group[i / 3] * RANK);
    }
    if (x) reduced_keep_better(work, run, x, r);
    free(x);
    free(s.member);
    free(s.group);
    free(s.P);
    reduced_free(&s.small);
    return reduced_run_is_done(run);
}
