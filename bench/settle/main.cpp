/// 1000 and 10000 spheres that fall into a box and settle: CPU time per simulated second against
/// the overlap left at the end, for Talus, Bullet and, with 1000 spheres, Siconos's mechanics.
///
/// All codes get the same spheres (diameters within 20 % of 1 m, mu = 0.5) at the same places of a
/// lattice, one thread, and SECONDS of simulated time. Overlap is judged from the final places
/// alone: over all pairs and walls with a gap below 0.001 diameters, mean and largest. Codes that
/// solve loosely are fast and soft, so each comes with several settings, and the last lines compare
/// those that end with equal overlap or less.
///
/// Siconos runs in a process of its own (bench/siconos_settle.py), which reads and writes places as
/// CSV in a temporary folder; it takes minutes, so it has to be asked for.
/// settle [--quick] [--siconos]: 1000 spheres only; with Siconos.
#include "../bullet/pile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <unistd.h>

static constexpr double SECONDS = 2.0;
static constexpr double LATTICE = 1.25; // spacing; the largest sphere has a diameter of 1.2
static constexpr double NEAR = 1e-3;    // gap that still counts as contact

static double seconds_of(clockid_t which)
{
    timespec t;
    clock_gettime(which, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// ---- the scene ---------------------------------------------------------------------------------

static scene balls(int across, int high, std::vector<placed>& start)
{
    std::mt19937_64 random(1);
    const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53 - 0.5; };
    scene out{0.5 * across * LATTICE, 2.0 * high * LATTICE, FRICTION, STEP, {}};
    for (int i = 0; i < across * across * high; i++) {
        const int x = i % across, y = i / across % across, z = i / (across * across);
        const double room = 0.5 * (LATTICE - 1.2);
        start.push_back({{(x + 0.5) * LATTICE - out.half_width + room * uniform(),
                          (y + 0.5) * LATTICE - out.half_width + room * uniform(),
                          (z + 0.5) * LATTICE + room * uniform()},
                         {1.0, 0.0, 0.0, 0.0}});
        out.radii.push_back(0.5 + 0.2 * uniform());
    }
    return out;
}

/// Overlap of the final places, in mean diameters (1 m).
struct packed {
    int contacts = 0;
    double mean = 0.0, largest = 0.0;
    double top = 0.0; ///< mean height: has it come down?

    void count(double gap)
    {
        if (gap > NEAR) return;
        contacts++;
        mean += std::fmax(-gap, 0.0);
        largest = std::fmax(largest, -gap);
    }
};

static packed judge_overlap(const scene& what, const std::vector<placed>& at)
{
    packed out;
    std::map<std::array<int, 3>, std::vector<size_t>> cells;
    const auto cell_of = [](const vec3& x) {
        return std::array<int, 3>{static_cast<int>(std::floor(x[0] / 1.3)),
                                  static_cast<int>(std::floor(x[1] / 1.3)),
                                  static_cast<int>(std::floor(x[2] / 1.3))};
    };
    for (size_t i = 0; i < at.size(); i++) {
        const vec3& x = at[i].position;
        const double r = what.radii[i];
        const std::array<int, 3> home = cell_of(x);
        for (int n = 0; n < 27; n++) {
            const auto found =
                cells.find({home[0] + n % 3 - 1, home[1] + n / 3 % 3 - 1, home[2] + n / 9 - 1});
            if (found == cells.end()) continue;
            for (const size_t j : found->second) {
                const vec3& y = at[j].position;
                out.count(std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]) - r - what.radii[j]);
            }
        }
        cells[home].push_back(i);
        out.count(x[2] - r);
        for (size_t k = 0; k < 2; k++) out.count(what.half_width - std::fabs(x[k]) - r);
        out.top += x[2] / static_cast<double>(at.size());
    }
    out.mean /= std::max(out.contacts, 1);
    return out;
}

// ---- runs --------------------------------------------------------------------------------------

struct result {
    std::string code, name;
    double cpu; ///< seconds per simulated second
    packed end;
};

static void print_result(const result& r, double wall)
{
    std::printf("%-8s %-34s %9.3f %9.3f %8d %9.1e %9.1e %8.3f\n", r.code.c_str(), r.name.c_str(),
                wall, r.cpu, r.end.contacts, r.end.mean, r.end.largest, r.end.top);
    std::fflush(stdout);
}

static result run(const std::string& code, const std::string& name, const scene& what,
                  std::unique_ptr<pile> p)
{
    const int steps = static_cast<int>(std::lround(SECONDS / what.step));
    const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), wall = seconds_of(CLOCK_MONOTONIC);
    for (int i = 0; i < steps; i++) p->step();
    result out{code, name, (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu) / SECONDS,
               judge_overlap(what, p->places())};
    print_result(out, (seconds_of(CLOCK_MONOTONIC) - wall) / SECONDS);
    return out;
}

static void run_talus(scene what, const std::vector<placed>& start, std::vector<result>& all)
{
    struct setting {
        int rate;
        double tolerance;
    };
    for (const setting& s : {setting{60, 0.5},
                             {60, 1e-1},
                             {60, 1e-2},
                             {120, 1e-1},
                             {120, 1e-2},
                             {120, 1e-3},
                             {240, 1e-2}}) {
        char name[64];
        what.step = 1.0 / s.rate;
        std::snprintf(name, sizeof name, "h = 1/%d, velocity error %g", s.rate, s.tolerance);
        all.push_back(
            run("Talus", name, what,
                make_talus(what, start, {method::fast, rule::velocity_error, s.tolerance})));
    }
}

static void run_bullet(scene what, const std::vector<placed>& start, std::vector<result>& all)
{
    struct setting {
        int rate, iterations;
    };
    for (const setting& s : {setting{60, 10},
                             {120, 10},
                             {120, 50},
                             {240, 10},
                             {240, 50},
                             {240, 200},
                             {480, 50},
                             {480, 200}}) {
        char name[64];
        what.step = 1.0 / s.rate;
        std::snprintf(name, sizeof name, "h = 1/%d, %d iterations", s.rate, s.iterations);
        all.push_back(
            run("Bullet", name, what, make_bullet(what, start, {s.iterations, true, false})));
    }
}

/// Siconos by its own program; false if it is not there or failed.
static bool run_siconos(scene what, const std::vector<placed>& start, std::vector<result>& all)
{
    constexpr int rate = 60, iterations = 100;
    constexpr double tolerance = 1e-3;
    char folder[] = "/tmp/talus-settle-XXXXXX";
    if (!mkdtemp(folder)) return false;
    const std::string in = std::string(folder) + "/start.csv",
                      out = std::string(folder) + "/end.csv";
    std::ofstream file(in);
    file.precision(17);
    for (size_t i = 0; i < start.size(); i++) {
        const vec3& x = start[i].position;
        file << what.radii[i] << ',' << x[0] << ',' << x[1] << ',' << x[2] << '\n';
    }
    file.close();
    char command[512];
    std::snprintf(
        command, sizeof command,
        "/usr/bin/python3 %s/siconos_settle.py %s %s --half-width %g --friction %g "
        "--density %g --seconds %g --rate %d --tolerance %g --iterations %d > %s/log 2>&1",
        TALUS_BENCH_DIR, in.c_str(), out.c_str(), what.half_width, what.friction, DENSITY, SECONDS,
        rate, tolerance, iterations, folder);
    const bool done = std::system(command) == 0;
    result r{"Siconos", "", 0.0, {}};
    double wall = 0.0;
    if (done) {
        std::ifstream back(out);
        std::vector<placed> at(start.size());
        char comma;
        back >> r.cpu >> comma >> wall;
        for (placed& p : at) {
            back >> p.position[0] >> comma >> p.position[1] >> comma >> p.position[2];
        }
        char name[64];
        std::snprintf(name, sizeof name, "h = 1/%d, NSGS to %g or %d iter.", rate, tolerance,
                      iterations);
        r.name = name;
        r.cpu /= SECONDS;
        r.end = judge_overlap(what, at);
        print_result(r, wall / SECONDS);
        all.push_back(r);
    }
    const std::string clean = std::string("rm -r ") + folder;
    return std::system(clean.c_str()) == 0 && done;
}

/// For each setting of the peers: the cheapest one of Talus that ends with no more overlap.
static void compare(const std::vector<result>& all)
{
    for (const result& peer : all) {
        if (peer.code == "Talus") continue;
        const result* best = nullptr;
        for (const result& mine : all) {
            if (mine.code == "Talus" && mine.end.mean <= peer.end.mean &&
                mine.end.largest <= peer.end.largest && (!best || mine.cpu < best->cpu)) {
                best = &mine;
            }
        }
        std::printf("%s, %s: ", peer.code.c_str(), peer.name.c_str());
        if (best) {
            std::printf("%.2f times the time of Talus, %s, which overlaps no more\n",
                        peer.cpu / best->cpu, best->name.c_str());
        } else {
            std::printf("no setting of Talus here overlaps as little\n");
        }
    }
}

static void settle(int across, int high, bool siconos)
{
    std::vector<placed> start;
    const scene what = balls(across, high, start);
    std::vector<result> all;
    std::printf("%d spheres settle in a box, %g s, one thread: seconds per simulated second\n",
                across * across * high, SECONDS);
    std::printf("%-8s %-34s %9s %9s %8s %9s %9s %8s\n", "", "", "wall", "cpu", "contacts",
                "overlap", "largest", "height");
    run_talus(what, start, all);
    run_bullet(what, start, all);
    if (siconos && !(run_siconos(what, start, all))) {
        std::printf("Siconos did not run: python3-siconos is not there or failed\n");
    }
    compare(all);
    std::printf("\n");
}

static bool asked(int argc, char** argv, const char* option)
{
    return std::any_of(argv + 1, argv + argc,
                       [&](const char* given) { return std::strcmp(given, option) == 0; });
}

int main(int argc, char** argv)
{
    settle(10, 10, asked(argc, argv, "--siconos"));
    if (!asked(argc, argv, "--quick")) settle(20, 25, false);
    return 0;
}
