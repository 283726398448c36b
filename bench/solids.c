/// Polygons and polyhedra: contacts found per second, contact updates per second of one core, and
/// bytes per grain and per contact.
///
/// The narrow phase is asked for the same pairs again and again, each with what the last step would
/// tell it: the names of its points and the free motion of a step. `rest` stands box on box with
/// parallel faces, turned about the normal and shifted at random, overlapping by 1e-4 of the edge;
/// the others are in any position, brought along the shortest way to a gap between -1e-3 and 1e-3,
/// or for `near miss` between 2 and 20 times the reach. The updates are those of bench/updates.c
/// with rectangles and boxes.
#include "rate.h"

#include "detect/poses.h"
#include "geometry/feature.h"

enum { PAIRS = 2000, SHAPES = 100 };
static const double REACH = 0.01;

/// A pair of bodies in place.
typedef struct placed_pair {
    convex a, b;
    double* numbers[2]; ///< corners and normals of both
    double delta[3];
    convex_hint hint;
    int64_t kept[CONVEX_MAX_TOUCHES];
} placed_pair;

typedef struct narrow_job {
    placed_pair* pair; ///< [PAIRS]
    int64_t points;
} narrow_job;

static void touch_all(void* user)
{
    narrow_job* job = user;
    job->points = 0;
    for (int i = 0; i < PAIRS; i++) {
        placed_pair* p = &job->pair[i];
        touch touches[CONVEX_MAX_TOUCHES];
        job->points += convex_touches(&p->a, &p->b, p->delta, REACH, &p->hint, touches);
    }
}

// ---- pairs -------------------------------------------------------------------------------------

static polytope box_shape(int dim)
{
    const double half[3] = {0.5, 0.4, 0.3};
    polytope out;
    talus_error error = {0};
    bench_ok(polytope_box(dim, half, &out, &error), error.text);
    return out;
}

/// Hull of `count` points on the unit circle or sphere.
static polytope random_shape(int dim, int count, rng* r)
{
    double points[64 * 3];
    polytope out;
    talus_error error = {0};
    for (int i = 0; i < count; i++) {
        double* x = points + i * dim;
        for (int k = 0; k < dim; k++) x[k] = rng_uniform(r) - 0.5;
        const double length = vec_norm(dim, x);
        for (int k = 0; k < dim; k++) x[k] *= 0.5 / length;
    }
    bench_ok(polytope_hull(dim, points, count, &out, &error), error.text);
    return out;
}

static void turn_body(const polytope* shape, const double turn[3], double** numbers, convex* out)
{
    double q[4], axes[9];
    *numbers = malloc(sizeof(double) * (size_t)convex_size(shape));
    bench_ok(!*numbers, "memory");
    quat_from_rotation(q, turn);
    quat_matrix(axes, q);
    *out = convex_turn(shape, axes, 1.0, 0.0, *numbers);
}

static void any_turn(int dim, rng* r, double turn[3])
{
    for (int k = 0; k < 3; k++) turn[k] = dim == 3 || k == 2 ? 4.0 * rng_uniform(r) - 2.0 : 0.0;
}

/// Move b along the shortest way until the gap is `gap`.
static void bring_to(placed_pair* p, double gap)
{
    double normal[3];
    for (int i = 0; i < 20; i++) {
        const double now = convex_distance(&p->a, &p->b, p->delta, normal);
        vec_add_scaled(p->a.dim, p->delta, gap - now, normal);
    }
}

/// Bodies in any position at a gap between two bounds.
static void place_anyhow(placed_pair* p, int dim, const polytope* a, const polytope* b, rng* r,
                         double low, double high)
{
    double turn[3], length = 0.0;
    any_turn(dim, r, turn);
    turn_body(a, turn, &p->numbers[0], &p->a);
    any_turn(dim, r, turn);
    turn_body(b, turn, &p->numbers[1], &p->b);
    for (int k = 0; k < dim; k++) p->delta[k] = rng_uniform(r) - 0.5;
    length = vec_norm(dim, p->delta);
    for (int k = 0; k < dim; k++) p->delta[k] *= 1.5 / length;
    bring_to(p, low + (high - low) * rng_uniform(r));
}

/// Box on box.
static void place_at_rest(placed_pair* p, int dim, const polytope* box, rng* r)
{
    double turn[3] = {0.0, 0.0, 0.0};
    turn_body(box, turn, &p->numbers[0], &p->a);
    if (dim == 3) turn[2] = 6.0 * rng_uniform(r);
    turn_body(box, turn, &p->numbers[1], &p->b);
    for (int k = 0; k < dim - 1; k++) p->delta[k] = 0.5 * (rng_uniform(r) - 0.5);
    p->delta[dim - 1] = dim == 2 ? 0.8 : 0.6;
    bring_to(p, -1e-4);
}

/// What the last step would have left, and a step's fall.
static void give_hint(placed_pair* p, int dim)
{
    touch touches[CONVEX_MAX_TOUCHES];
    p->hint.shift[dim - 1] = -1e-4;
    p->hint.kept_count = convex_touches(&p->a, &p->b, p->delta, REACH, &p->hint, touches);
    for (int t = 0; t < p->hint.kept_count; t++) p->kept[t] = touches[t].feature;
    p->hint.kept = p->kept;
}

// ---- cases -------------------------------------------------------------------------------------

typedef struct narrow_case {
    const char* name;
    int dim;
    int corners;      ///< of the random bodies; 0: boxes
    bool rest;        ///< box on box
    double low, high; ///< gap
} narrow_case;

static void measure_narrow(const narrow_case* c)
{
    rng r = rng_make(1, (uint64_t)c->dim, (uint64_t)c->corners);
    polytope shape[SHAPES];
    narrow_job job = {.pair = calloc(PAIRS, sizeof *job.pair)};
    bench_ok(!job.pair, "memory");
    for (int i = 0; i < SHAPES; i++) {
        shape[i] = c->corners > 0 ? random_shape(c->dim, c->corners, &r) : box_shape(c->dim);
    }
    for (int i = 0; i < PAIRS; i++) {
        placed_pair* p = &job.pair[i];
        const polytope *a = &shape[rng_below(&r, SHAPES)], *b = &shape[rng_below(&r, SHAPES)];
        if (c->rest) {
            place_at_rest(p, c->dim, a, &r);
        } else {
            place_anyhow(p, c->dim, a, b, &r, c->low, c->high);
        }
        give_hint(p, c->dim);
    }
    bench_times t = bench_run(touch_all, &job);
    const double scale = 1e9 / PAIRS, median = scale * t.cpu[t.count / 2];
    printf("%-22s %8.0f %7.0f %7.0f %8.0f %8.2f %7.2f %8.2f\n", c->name, scale * t.wall[0],
           scale * t.wall[t.count / 2], scale * t.wall[t.count - 1], median, 1e3 / median,
           (double)job.points / PAIRS, 1e3 / median * (double)job.points / PAIRS);
    fflush(stdout);
    for (int i = 0; i < SHAPES; i++) polytope_free(&shape[i]);
    for (int i = 0; i < PAIRS; i++) {
        free(job.pair[i].numbers[0]);
        free(job.pair[i].numbers[1]);
    }
    free(job.pair);
}

int main(void)
{
    static const narrow_case cases[] = {
        {"rectangles at rest", 2, 0, true, 0.0, 0.0},
        {"rectangles", 2, 0, false, -1e-3, 1e-3},
        {"polygons, 8 corners", 2, 8, false, -1e-3, 1e-3},
        {"polygons, near miss", 2, 8, false, 0.02, 0.2},
        {"boxes at rest", 3, 0, true, 0.0, 0.0},
        {"boxes", 3, 0, false, -1e-3, 1e-3},
        {"boxes, near miss", 3, 0, false, 0.02, 0.2},
        {"polyhedra, 12 corners", 3, 12, false, -1e-3, 1e-3},
        {"polyhedra, 30 corners", 3, 30, false, -1e-3, 1e-3},
        {"polyhedra 30, near miss", 3, 30, false, 0.02, 0.2},
    };
    printf("Contacts of pairs, %d repeats: nanoseconds a pair; M/s by median CPU time\n",
           BENCH_REPEATS);
    printf("%-22s wall min  median     max  cpu med  Mpair/s  points  Mpoint/s\n", "");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) measure_narrow(&cases[i]);
    const int side[2] = {40, 9}, high[2] = {20, 9}, times[2] = {700, 15}, memory[2] = {20, 4};
    measure_packings(GRAIN_BOXES, side, high, times, memory);
    return 0;
}
