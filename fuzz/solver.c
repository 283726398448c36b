/// Random contact problems: an answer to each, without NaN, in the end, with the residual it has.
///
/// The input's bytes are numbers of a problem W = J J^T, which a set of bodies makes, or of any W.
#include "fuzz.h"

#include "rigid/reduced/reduced.h"

#include <math.h>

enum { CONTACTS = 6, WIDTH = 5, SIZE = CONTACTS * WIDTH };

typedef struct source {
    const uint8_t* at;
    size_t left;
} source;

static uint8_t next_byte(source* s)
{
    if (s->left == 0) return 0;
    s->left--;
    return *s->at++;
}

/// Small whole numbers, zeros, and now and then sizes from 1e-12 to 1e12.
static double next_number(source* s)
{
    const uint8_t b = next_byte(s);
    if (b < 64) return 0.0;
    if (b < 192) return (double)((int)b - 128) / 32.0;
    return (b & 1 ? 1.0 : -1.0) * pow(10.0, (double)((int)next_byte(s) - 128) / 10.0);
}

/// W of the given width and count, row after row of blocks: all of them are there.
static void fill(source* s, reduced_problem* p, double matrix[SIZE][SIZE])
{
    const int w = p->width, n = (int)p->count * w;
    double J[SIZE][SIZE];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) J[i][j] = next_number(s);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            matrix[i][j] = i == j ? 1e-9 : 0.0;
            for (int k = 0; k < n; k++) matrix[i][j] += J[i][k] * J[j][k];
        }
    }
    for (int c = 0; c < p->count; c++) {
        p->mu[c] = fabs(next_number(s));
        p->mu_r[c] = fabs(next_number(s));
        p->first[c + 1] = (c + 1) * p->count;
        for (int e = 0; e < p->count; e++) {
            p->column[c * p->count + e] = e;
            for (int k = 0; k < w * w; k++)
                p->block[(c * p->count + e) * w * w + k] = matrix[c * w + k / w][e * w + k % w];
        }
    }
    for (int i = 0; i < n; i++) p->q[i] = next_number(s);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const int widths[] = {2, 3, 5};
    static double matrix[SIZE][SIZE];
    double block[SIZE * SIZE], q[SIZE], mu[CONTACTS], mu_r[CONTACTS], r[SIZE] = {0};
    int64_t first[CONTACTS + 1] = {0};
    int32_t column[CONTACTS * CONTACTS];
    source s = {data, size};
    reduced_problem p = {.width = widths[next_byte(&s) % 3],
                         .count = 1 + next_byte(&s) % CONTACTS,
                         .first = first,
                         .column = column,
                         .block = block,
                         .q = q,
                         .mu = mu,
                         .mu_r = mu_r};
    const char* const* methods = reduced_methods();
    int known = 0;
    while (methods[known]) known++;
    const int chosen = next_byte(&s) % (known + 1);
    fill(&s, &p, matrix);
    const reduced_options options = {.tolerance = 1e-8,
                                     .max_sweeps = 300,
                                     .max_work = 3000,
                                     .method = chosen < known ? methods[chosen] : "auto"};
    reduced_result result = {0};
    const talus_status status = reduced_solve(&p, &options, r, &result);
    if (status < 0) return 0;
    for (int i = 0; i < p.count * p.width; i++) FUZZ_PROMISE(!isnan(r[i]));
    if (result.converged) {
        // What it claims is worked out anew.
        FUZZ_PROMISE(reduced_error(&p, r) <= 1e-8 * (1.0 + 1e-6));
        FUZZ_PROMISE(reduced_residual(&p, r) <= 1e-8 * (1.0 + 1e-6));
    }
    return 0;
}
