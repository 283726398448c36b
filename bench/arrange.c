/// What a solve costs beside its sweeps, in nanoseconds a contact and in sweeps: arranging contacts
/// in batches, packing them, first velocities, results back, the error at the end.
///
/// Settled packings in which grains have numbers at random, as after a random fill or a flow: what
/// is near in space is far in memory. One core, CPU time, median. The sweep is the accelerated one
/// over all contacts.
///
/// arrange [--quick]     --quick: 10^4 grains only
#include "packing.h"

#include "base/keep_memory.h"
#include "rigid/packed/packed.h"
#include "rigid/residual.h"

/// The grains of a world, in another order, in a new one.
static talus_world* shuffled(const talus_world* from, const packing_kind* packing,
                             const double width[3], int times)
{
    const talus_grains g = talus_world_grains(from);
    const double extent[3] = {width[0] * times, width[1] * times, width[2]};
    talus_world* world = make_world(packing, extent, 60);
    int64_t* order = malloc(sizeof *order * (size_t)g.count);
    rng r = rng_make(7, (uint64_t)g.count, 0);
    bench_ok(!order, "memory");
    for (int64_t i = 0; i < g.count; i++) {
        const int64_t k = (int64_t)(rng_uniform(&r) * (double)(i + 1));
        order[i] = order[k];
        order[k] = i;
    }
    const double turn[3] = {0.0, 0.0, 0.0};
    for (int64_t i = 0; i < g.count; i++) {
        const int64_t k = order[i];
        add_grain(world, packing->grains, 2.0 * g.radius[k], g.position + k * g.dim, turn, g.dim);
    }
    free(order);
    step_world(world, 3);
    return world;
}

typedef struct job {
    problem problem;
    packed_problem packed;
    const packed_kernels* kernels;
    packed_manner manner;
    double sink;
} job;

static void arrange(void* user)
{
    job* j = user;
    packed_layout_free(&j->packed); // forgets what the layout was made from
    bench_ok(packed_arrange(&j->packed, &j->problem, 1), "memory");
}

static void pack(void* user)
{
    job* j = user;
    bench_ok(packed_pack(&j->packed, &j->problem, 1), "memory");
}

static void first_velocities(void* user)
{
    job* j = user;
    packed_apply(&j->packed, j->kernels, 1);
}

static void sweep(void* user)
{
    job* j = user;
    j->sink += packed_sweep(&j->packed, j->kernels, &j->manner, 1).change;
}

static void write_back(void* user)
{
    job* j = user;
    packed_write(&j->packed, 1);
}

static void measure_error(void* user)
{
    job* j = user;
    j->sink += residual_measure(&j->problem, 10.0, 1).velocity;
}

static void measure(talus_world* world)
{
    job j = {.kernels = packed_kernels_for(talus_solver_default().vector)};
    j.manner = (packed_manner){.momentum = true, .beta = 0.0, .outlier = INFINITY};
    const contacts* list;
    talus_error error = {0};
    bench_ok(world_pose(world, STEP, &j.problem, &list, &error), error.text);
    void (*const work[])(void*) = {arrange, pack,       first_velocities,
                                   sweep,   write_back, measure_error};
    enum { WORKS = sizeof work / sizeof *work, SWEEP = 3 };
    double ns[WORKS];
    for (int k = 0; k < WORKS; k++) {
        if (k == SWEEP) packed_remember(&j.packed, 1);
        ns[k] = 1e9 / (double)j.problem.count * bench_run(work[k], &j).cpu[BENCH_REPEATS / 2];
    }
    printf("%3d %8lld %8lld", j.problem.dim, (long long)world->state.grains.count,
           (long long)j.problem.count);
    for (int k = 0; k < WORKS; k++) {
        printf(" %6.1f", ns[k]);
        if (k != SWEEP) printf(" (%4.1f)", ns[k] / ns[SWEEP]);
    }
    printf(" %6.1f\n", (ns[0] + ns[1]) / ns[SWEEP]);
    fflush(stdout);
    packed_free(&j.packed);
    problem_free(&j.problem);
}

int main(int argc, char** argv)
{
    const bool quick = bench_option(argc, argv, "--quick");
    keep_memory(); // as the program does
    printf("Beside the sweeps: ns a contact (sweeps' worth), one core, CPU time, median of %d\n",
           BENCH_REPEATS);
    printf(
        "dim   grains contacts  arranged        packed    velocities    sweep       back         "
        " error        set-up in sweeps\n");
    for (int dim = 2; dim <= 3; dim++) {
        const packing_kind kind = plain_packing(dim, GRAIN_BALLS);
        double width[3];
        talus_world* tile = settled_tile(&kind, dim == 2 ? 40 : 10, dim == 2 ? 25 : 10, width);
        const int times[2] = {dim == 2 ? 10 : 3, dim == 2 ? 100 : 10};
        for (int size = 0; size < (quick ? 1 : 2); size++) {
            talus_world* lattice = repeat_tile(tile, &kind, width, times[size]);
            talus_world* world = shuffled(lattice, &kind, width, times[size]);
            measure(world);
            talus_world_destroy(lattice);
            talus_world_destroy(world);
        }
        talus_world_destroy(tile);
    }
    return 0;
}
