/// Slender solids thrown at every kind of wall and at each other (throws.h): how many pass, how
/// many are lost, and how deep do they overlap on their way?
///
///   bench_throws [how many] [first] [print those deeper than]
#include "throws.h"

typedef struct tally {
    int64_t count, passed, lost, cut, steps, substeps, contacts;
    double deepest, sum;
} tally;

static void tally_add(tally* t, const throw_result* r)
{
    t->count++;
    t->passed += r->depth >= 0.5;
    t->lost += r->lost;
    t->cut += r->substeps > r->steps;
    t->steps += r->steps, t->substeps += r->substeps, t->contacts += r->contacts;
    t->deepest = fmax(t->deepest, r->depth);
    t->sum += r->depth;
}

static void tally_print(const char* name, const tally* t)
{
    if (t->count == 0) return;
    printf("%-18s %7lld %7lld %6lld %9.3g %9.2g %9.3f %9.3f\n", name, (long long)t->count,
           (long long)t->passed, (long long)t->lost, t->deepest, t->sum / (double)t->count,
           (double)t->substeps / (double)t->steps, (double)t->contacts / (double)t->substeps);
}

int main(int argc, char** argv)
{
    const int64_t count = argc > 1 ? atoll(argv[1]) : 100000, first = argc > 2 ? atoll(argv[2]) : 0;
    const double telling = argc > 3 ? atof(argv[3]) : INFINITY;
    static tally all, targets[2][TARGET_COUNT], shapes[2][SHAPE_COUNT], drives[DRIVE_COUNT], hs[5],
        bouncing[2];
    static const double steps[5] = {1e-3, 2e-3, 5e-3, 1e-2, 2e-2};
    for (int64_t i = first; i < first + count; i++) {
        const throw_case c = throw_number((uint64_t)i);
        const throw_result r = throw_one(&c, 40);
        tally_add(&all, &r);
        tally_add(&targets[c.dim - 2][c.target], &r);
        tally_add(&shapes[c.dim - 2][c.shape], &r);
        tally_add(&drives[c.drive], &r);
        tally_add(&bouncing[c.restitution > 0.0], &r);
        for (int k = 0; k < 5; k++) {
            if (steps[k] == c.h) tally_add(&hs[k], &r);
        }
        if (r.depth >= telling || r.lost) {
            printf("# %lld: %dD %s at %s, drive %d, h = %g: %.3g in step %g %s\n", (long long)i,
                   c.dim, throw_shape_names[c.shape], throw_target_names[c.target], c.drive, c.h,
                   r.depth, r.begins, r.why);
            fflush(stdout);
        }
    }
    printf("%-18s %7s %7s %6s %9s %9s %9s %9s\n", "", "throws", "passed", "lost", "deepest", "mean",
           "substeps", "contacts");
    for (int d = 0; d < 2; d++) {
        char name[40];
        for (int k = 0; k < TARGET_COUNT; k++) {
            snprintf(name, sizeof name, "%dD %s", d + 2, throw_target_names[k]);
            tally_print(name, &targets[d][k]);
        }
        for (int k = 0; k < SHAPE_COUNT; k++) {
            snprintf(name, sizeof name, "%dD %s", d + 2, throw_shape_names[k]);
            tally_print(name, &shapes[d][k]);
        }
    }
    static const char* const moves[DRIVE_COUNT] = {"fixed", "driven", "mobile"};
    for (int k = 0; k < DRIVE_COUNT; k++) tally_print(moves[k], &drives[k]);
    for (int k = 0; k < 2; k++) tally_print(k ? "bouncing" : "not bouncing", &bouncing[k]);
    for (int k = 0; k < 5; k++) {
        char name[40];
        snprintf(name, sizeof name, "h = %g", steps[k]);
        tally_print(name, &hs[k]);
    }
    tally_print("all", &all);
    return 0;
}
