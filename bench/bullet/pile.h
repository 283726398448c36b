/// Piles of boxes or balls in Talus and in Bullet, and one measure for both.
///
/// bench/bullet: 2000 boxes fall from a lattice, with random orientations, into a box without a lid
/// and settle in Talus; Bullet starts from there. Each code gives its bodies and its contacts of
/// one step, and judge.cpp evaluates the natural-map residual of src/engine/rigid/residual.c on
/// them, as plain code. bench/settle: balls fall in each code by itself and are judged by their
/// overlap.
#ifndef TALUS_BENCH_BULLET_PILE_H
#define TALUS_BENCH_BULLET_PILE_H

#include <array>
#include <memory>
#include <vector>

using vec3 = std::array<double, 3>;
using mat3 = std::array<double, 9>;
using quat = std::array<double, 4>; // w x y z

constexpr vec3 EDGES = {1.0, 0.8, 0.6}; // m; Bullet is made for bodies of this size
constexpr double MEAN_EDGE = (EDGES[0] + EDGES[1] + EDGES[2]) / 3.0;
constexpr int ACROSS = 10, HIGH = 20; // 2000 boxes
constexpr double SPACING = 1.45;      // of the lattice; the longest diagonal is 1.414
constexpr double HALF_WIDTH = 0.5 * ACROSS * SPACING;
constexpr double DENSITY = 1000.0, FRICTION = 0.5, GRAVITY = 9.81; // SI
constexpr double MASS = DENSITY * EDGES[0] * EDGES[1] * EDGES[2];
constexpr double STEP = 1.0 / 240.0; // s

/// What is piled up: a square container without a lid on z = 0, centred, and what falls into it.
struct scene {
    double half_width, height;
    double friction;
    double step;               ///< s
    std::vector<double> radii; ///< of the balls; empty: bricks with EDGES
};

inline double ball_mass(double radius)
{
    return DENSITY * 4.0 / 3.0 * 3.14159265358979 * radius * radius * radius;
}

/// The bricks of bench/bullet.
inline scene bricks(double friction)
{
    return {HALF_WIDTH, HIGH * SPACING, friction, STEP, {}};
}

/// A body in place.
struct placed {
    vec3 position;
    quat rotation;
};

/// A box in a step: its place at the start, its velocity and spin without contacts and at the end.
struct body {
    placed place;
    vec3 free_velocity, free_spin;
    vec3 velocity, spin;
};

/// A contact in a step. Bodies are numbers of boxes, a is -1 for the container.
struct contact {
    int a, b;
    vec3 point_a, point_b; ///< where the impulse acts on each
    vec3 normal;           ///< unit, from a to b
    double gap;            ///< at the start of the step
    double own_bias;       ///< the code's own law is u_n + own_bias >= 0
    vec3 impulse;          ///< on b
};

struct snapshot {
    std::vector<body> bodies;
    std::vector<contact> contacts;
};

/// What a step of a pile is judged by.
struct verdict {
    int contacts, active;  ///< active ones carry an impulse
    double residual;       ///< of the law with u_n + g+/h >= 0, as Talus has it
    double own_residual;   ///< of the code's own law
    double mismatch;       ///< largest |v - (v_free + M^-1 H p)| / (g h): are these all impulses?
    double overlap_max;    ///< of all contacts, in mean edges
    double overlap_mean;   ///< of active contacts, in mean edges
    double kinetic_energy; ///< a box, in units of its weight times a mean edge
};

verdict judge(const snapshot& s);

/// A code that can hold the pile.
class pile {
  public:
    virtual ~pile() = default;
    virtual void step() = 0;
    /// Do one step and tell all about it.
    virtual snapshot observed_step() = 0;
    virtual std::vector<placed> places() const = 0;
    /// Seconds so far of search, solve and the rest of the steps; zeros if not known.
    virtual vec3 seconds() const
    {
        return {0.0, 0.0, 0.0};
    }
};

/// How Talus solves; the rest is its default.
enum class method { fast, random_sweeps, forward_sweeps }; // the first is the default
enum class rule { velocity_error, residual };              // that stops a solve; likewise
struct talus_choice {
    method how;
    rule stop;
    double tolerance;
};
/// How Bullet solves; the rest is its default.
struct bullet_choice {
    int iterations;
    bool two_directions; ///< of friction, fixed, instead of one along the slip
    bool sleeping;
};

std::unique_ptr<pile> make_talus(const scene& what, const std::vector<placed>& start,
                                 const talus_choice& choice);
std::unique_ptr<pile> make_bullet(const scene& what, const std::vector<placed>& start,
                                  const bullet_choice& choice);

#endif
