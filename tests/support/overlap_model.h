/// An independent computation of overlap regions, for tests of soft/overlap.h: both bodies are cut
/// by many lines of constant y, on each line the intervals that both have are found, and intervals
/// of neighbouring lines that overlap belong to one region (midpoint rule in y).
#ifndef TALUS_TESTS_OVERLAP_MODEL_H
#define TALUS_TESTS_OVERLAP_MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { MODEL_MAX_CORNERS = 64, MODEL_MAX_PARTS = 12, MODEL_MAX_INTERVALS = 64 };

/// A union of convex polygons, or a disk, or all but a disk.
typedef struct model_set {
    int part_count;
    int corners[MODEL_MAX_PARTS];
    double corner[MODEL_MAX_PARTS][MODEL_MAX_CORNERS][2];
    double radius; ///< > 0: a disk about `centre`
    double centre[2];
    bool complement;
} model_set;

typedef struct model_intervals {
    int count;
    double end[MODEL_MAX_INTERVALS][2];
    int region[MODEL_MAX_INTERVALS];
} model_intervals;

typedef struct model_region {
    double area, moment[2];
    int root;
} model_region;

typedef struct model_answer {
    int count; ///< regions
    double area[256], centroid[256][2];
} model_answer;

static inline bool model_part_cut(const model_set* s, int part, double y, double cut[2])
{
    cut[0] = INFINITY, cut[1] = -INFINITY;
    for (int k = 0; k < s->corners[part]; k++) {
        const double *p = s->corner[part][k], *q = s->corner[part][(k + 1) % s->corners[part]];
        if ((p[1] < y) == (q[1] < y)) continue;
        const double x = p[0] + (y - p[1]) / (q[1] - p[1]) * (q[0] - p[0]);
        cut[0] = fmin(cut[0], x), cut[1] = fmax(cut[1], x);
    }
    return cut[0] < cut[1];
}

static inline int model_by_first(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static inline model_intervals model_disk_cut(const model_set* s, double y)
{
    model_intervals out = {.count = 0};
    const double room = s->radius * s->radius - (y - s->centre[1]) * (y - s->centre[1]);
    const double half = room > 0.0 ? sqrt(room) : 0.0, x = s->centre[0];
    if (s->complement) {
        out.count = 2;
        out.end[0][0] = -1e9, out.end[0][1] = x - half;
        out.end[1][0] = x + half, out.end[1][1] = 1e9;
        if (room <= 0.0) out.count = 1, out.end[0][1] = 1e9;
    } else if (room > 0.0) {
        out.count = 1;
        out.end[0][0] = x - half, out.end[0][1] = x + half;
    }
    return out;
}

/// Intervals of a set on a line, merged where parts touch (to `slack`), in ascending order.
static inline model_intervals model_cut(const model_set* s, double y, double slack)
{
    if (s->radius > 0.0) return model_disk_cut(s, y);
    model_intervals all = {.count = 0}, out = {.count = 0};
    for (int part = 0; part < s->part_count; part++) {
        if (model_part_cut(s, part, y, all.end[all.count])) all.count++;
    }
    qsort(all.end, (size_t)all.count, sizeof all.end[0], model_by_first);
    for (int k = 0; k < all.count; k++) {
        if (out.count > 0 && all.end[k][0] <= out.end[out.count - 1][1] + slack) {
            out.end[out.count - 1][1] = fmax(out.end[out.count - 1][1], all.end[k][1]);
        } else {
            out.end[out.count][0] = all.end[k][0], out.end[out.count][1] = all.end[k][1];
            out.count++;
        }
    }
    return out;
}

static inline model_intervals model_common(const model_intervals* a, const model_intervals* b)
{
    model_intervals out = {.count = 0};
    for (int i = 0; i < a->count; i++) {
        for (int j = 0; j < b->count; j++) {
            const double low = fmax(a->end[i][0], b->end[j][0]);
            const double high = fmin(a->end[i][1], b->end[j][1]);
            if (low >= high) continue;
            out.end[out.count][0] = low, out.end[out.count][1] = high;
            out.count++;
        }
    }
    return out;
}

static inline int model_root(const model_region* r, int k)
{
    while (r[k].root != k) k = r[k].root;
    return k;
}

/// Regions of a and b between two heights, by this many lines.
static inline model_answer model_overlap(const model_set* a, const model_set* b, double low,
                                         double high, int lines)
{
    model_region* r = calloc(100000, sizeof *r);
    model_intervals last = {.count = 0};
    int made = 0;
    const double h = (high - low) / lines;
    for (int line = 0; line < lines; line++) {
        const double y = low + (line + 0.5) * h;
        const model_intervals of_a = model_cut(a, y, 1e-9), of_b = model_cut(b, y, 1e-9);
        model_intervals now = model_common(&of_a, &of_b);
        for (int k = 0; k < now.count; k++) {
            const double *x = now.end[k], length = x[1] - x[0];
            int root = -1;
            for (int l = 0; l < last.count; l++) {
                if (fmin(x[1], last.end[l][1]) <= fmax(x[0], last.end[l][0])) continue;
                const int other = model_root(r, last.region[l]);
                if (root >= 0) r[root].root = other;
                root = other;
            }
            if (root < 0) root = made, r[made++].root = root;
            now.region[k] = root;
            r[root].area += h * length;
            r[root].moment[0] += h * length * 0.5 * (x[0] + x[1]);
            r[root].moment[1] += h * length * y;
        }
        last = now;
    }
    model_answer answer = {.count = 0};
    for (int k = 0; k < made; k++) {
        const int root = model_root(r, k);
        if (root == k) continue;
        r[root].area += r[k].area;
        for (int c = 0; c < 2; c++) r[root].moment[c] += r[k].moment[c];
    }
    for (int k = 0; k < made && answer.count < 256; k++) {
        if (r[k].root != k) continue;
        answer.area[answer.count] = r[k].area;
        for (int c = 0; c < 2; c++) {
            answer.centroid[answer.count][c] = r[k].moment[c] / r[k].area;
        }
        answer.count++;
    }
    free(r);
    return answer;
}

#endif
