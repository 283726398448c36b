/// 2000 boxes at rest in Talus and in Bullet on one core: CPU time a step, residual, overlap,
/// motion.
///
/// The pile settles in Talus, from a lattice, and nothing sleeps. Every case then starts from the
/// settled places, gets a second to come to rest by itself, and is timed in rounds that alternate
/// between the cases, so that all see the same machine. What is told of a step comes from one more
/// step after the last round.
///
/// bullet [--fall [CASE]]   --fall: instead of that, the same boxes falling and settling in each
///                          code, or in the cases whose names have this text in them
#include "pile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>

/// A stretch of settling.
struct phase {
    talus_choice how;
    int steps;
};
static constexpr phase SETTLING[] = {
    {{method::forward_sweeps, rule::residual, 1e-2}, 1000},
    {{method::forward_sweeps, rule::residual, 1e-3}, 2000},
};
static constexpr int REST = 240; // steps of each case by itself
static constexpr double FALL_SECONDS = 4.0;
static constexpr int ROUNDS = 7, STEPS = 20; // timed

static double cpu_seconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

static void run(pile& p, int steps)
{
    for (int i = 0; i < steps; i++) p.step();
}

/// The lattice from which the boxes fall, each turned at random.
static std::vector<placed> lattice()
{
    std::mt19937_64 random(1);
    std::vector<placed> out;
    for (int i = 0; i < ACROSS * ACROSS * HIGH; i++) {
        const int x = i % ACROSS, y = i / ACROSS % ACROSS, z = i / (ACROSS * ACROSS);
        placed p{{(x + 0.5) * SPACING - HALF_WIDTH, (y + 0.5) * SPACING - HALF_WIDTH,
                  (z + 0.5) * SPACING},
                 {}};
        double square = 2.0;
        while (!(square > 0.0 && square < 1.0)) { // a point in the unit ball gives a fair rotation
            square = 0.0;
            for (double& q : p.rotation) {
                q = 2.0 * static_cast<double>(random() >> 11) * 0x1p-53 - 1.0;
                square += q * q;
            }
        }
        for (double& q : p.rotation) q /= std::sqrt(square);
        out.push_back(p);
    }
    return out;
}

/// The places of the boxes at rest. They settle with a little less friction than the pile has
/// afterwards, so that none is about to slide, and with coarse tolerances, which is faster.
static std::vector<placed> settled()
{
    std::vector<placed> at = lattice();
    for (const phase& p : SETTLING) {
        const std::unique_ptr<pile> boxes = make_talus(bricks(0.8 * FRICTION), at, p.how);
        run(*boxes, p.steps);
        at = boxes->places();
    }
    return at;
}

/// A code with its settings, and its times.
struct measured {
    std::string name;
    std::unique_ptr<pile> code;
    std::vector<double> ms; ///< CPU, a step
    vec3 before;            ///< seconds() before the timed rounds
};

/// Where the time of the steps went, in percent, from `before` on.
static void report_shares(const measured& m)
{
    vec3 spent = m.code->seconds();
    double sum = 0.0;
    for (size_t k = 0; k < 3; k++) sum += spent[k] -= m.before[k];
    if (!(sum > 0.0)) return;
    std::printf("%s: %.0f %% search, %.0f %% solve, %.0f %% the rest\n", m.name.c_str(),
                100.0 * spent[0] / sum, 100.0 * spent[1] / sum, 100.0 * spent[2] / sum);
}

static void report(measured& m, double reference)
{
    std::sort(m.ms.begin(), m.ms.end());
    const double median = m.ms[m.ms.size() / 2];
    const verdict v = judge(m.code->observed_step());
    std::printf("%-36s %7.2f %7.2f %7.2f %6.2f %6d %6d %9.1e %9.1e %9.1e %9.1e %9.1e %9.1e\n",
                m.name.c_str(), m.ms.front(), median, m.ms.back(), median / reference, v.contacts,
                v.active, v.residual, v.own_residual, v.overlap_max, v.overlap_mean,
                v.kinetic_energy, v.mismatch);
    std::fflush(stdout);
}

/// The boxes fall from the lattice and settle, in each code by itself; `which` is in the names of
/// the cases.
static void fall(const char* which)
{
    struct faller {
        const char* name;
        double step;
        int iterations;   ///< Bullet's; 0: Talus
        double tolerance; ///< Talus's, of the velocity error
    };
    static constexpr faller FALLERS[] = {
        {"Bullet, 10 iterations, 1/60 s", 1.0 / 60.0, 10, 0.0},
        {"Bullet, 10 iterations, 1/240 s", STEP, 10, 0.0},
        {"Bullet, 50 iterations, 1/240 s", STEP, 50, 0.0},
        {"Talus, velocity error 0.5, 1/60 s", 1.0 / 60.0, 0, 0.5},
        {"Talus, velocity error 0.5, 1/120 s", 1.0 / 120.0, 0, 0.5},
        {"Talus, velocity error 0.5, 1/240 s", STEP, 0, 0.5},
        {"Talus, velocity error 0.1, 1/60 s", 1.0 / 60.0, 0, 0.1},
        {"Talus, velocity error 0.1, 1/240 s", STEP, 0, 0.1},
    };
    std::printf("2000 boxes fall and settle for %.0f s, mu = 0.5, one thread: CPU s for a second, "
                "ms a step, overlap at the end in mean edges\n",
                FALL_SECONDS);
    std::printf("%-36s %8s %8s %9s %9s\n", "", "CPU s", "ms", "largest", "mean");
    for (const faller& f : FALLERS) {
        if (!std::strstr(f.name, which)) continue;
        scene what = bricks(FRICTION);
        what.step = f.step;
        const int steps = static_cast<int>(FALL_SECONDS / f.step + 0.5);
        const std::unique_ptr<pile> boxes =
            f.iterations > 0
                ? make_bullet(what, lattice(), {f.iterations, false, false})
                : make_talus(what, lattice(), {method::fast, rule::velocity_error, f.tolerance});
        const double begin = cpu_seconds();
        run(*boxes, steps);
        const double spent = cpu_seconds() - begin;
        const vec3 of = boxes->seconds();
        const verdict v = judge(boxes->observed_step());
        std::printf("%-36s %8.2f %8.2f %9.1e %9.1e", f.name, spent / FALL_SECONDS,
                    1e3 * spent / steps, v.overlap_max, v.overlap_mean);
        if (of[1] > 0.0)
            std::printf("   search %.0f %%, solve %.0f %%", 100.0 * of[0] / spent,
                        100.0 * of[1] / spent);
        std::printf("\n");
        std::fflush(stdout);
    }
}

int main(int argc, char** argv)
{
    if (argc > 1 && std::strcmp(argv[1], "--fall") == 0) {
        fall(argc > 2 ? argv[2] : "");
        return 0;
    }
    const scene what = bricks(FRICTION);
    const std::vector<placed> start = settled();
    std::vector<measured> all;
    all.push_back(
        {"Bullet, default (10 iterations)", make_bullet(what, start, {10, false, false}), {}, {}});
    all.push_back(
        {"Bullet, two friction directions", make_bullet(what, start, {10, true, false}), {}, {}});
    all.push_back(
        {"Bullet, two directions, 50 iter.", make_bullet(what, start, {50, true, false}), {}, {}});
    all.push_back(
        {"Bullet, default, may sleep", make_bullet(what, start, {10, false, true}), {}, {}});
    all.push_back({"Talus, default (1 % velocity error)",
                   make_talus(what, start, {method::fast, rule::velocity_error, 1e-2}),
                   {},
                   {}});
    all.push_back({"Talus, residual 1e-4",
                   make_talus(what, start, {method::fast, rule::residual, 1e-4}),
                   {},
                   {}});
    all.push_back({"Talus, residual 1e-4, random sweeps",
                   make_talus(what, start, {method::random_sweeps, rule::residual, 1e-4}),
                   {},
                   {}});
    for (measured& m : all) {
        run(*m.code, REST);
        m.before = m.code->seconds();
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (measured& m : all) {
            const double begin = cpu_seconds();
            run(*m.code, STEPS);
            m.ms.push_back(1e3 * (cpu_seconds() - begin) / STEPS);
        }
    }
    std::printf(
        "2000 boxes at rest, h = 1/240 s, mu = 0.5, one thread, %d rounds of %d steps: CPU ms "
        "a step\n",
        ROUNDS, STEPS);
    std::printf("%-36s %7s %7s %7s %6s %6s %6s %9s %9s %9s %9s %9s %9s\n", "", "min", "median",
                "max", "ratio", "points", "active", "residual", "own law", "overlap", "mean ovl",
                "energy", "mismatch");
    std::vector<double> first = all[0].ms;
    std::sort(first.begin(), first.end());
    for (measured& m : all) report(m, first[first.size() / 2]);
    for (const measured& m : all) report_shares(m);
    return 0;
}
