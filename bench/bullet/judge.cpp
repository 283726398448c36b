/// The natural-map residual of a step, whoever made it (src/engine/rigid/residual.c has the
/// formula):
///     e_c = p - P( p - m_n (u_n + bias) n - m_t u_t )
///     residual = sqrt(sum |e_c|^2) / max( sqrt(sum |p_c|^2), sqrt(sum s_c^2) )
/// P projects on Coulomb's cone, 1/m_n is the response of the two bodies along n, 1/m_t the mean
/// one across, s_c = m_n max(0, -(u_free,n + bias)). Velocities are those the code ended the step
/// with.
#include "pile.h"

#include <algorithm>
#include <cmath>

static double dot(const vec3& x, const vec3& y)
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static vec3 cross(const vec3& x, const vec3& y)
{
    return {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
}

/// x + s y
static vec3 sum(const vec3& x, double s, const vec3& y)
{
    return {x[0] + s * y[0], x[1] + s * y[1], x[2] + s * y[2]};
}

static vec3 times(const mat3& m, const vec3& x)
{
    return {dot({m[0], m[1], m[2]}, x), dot({m[3], m[4], m[5]}, x), dot({m[6], m[7], m[8]}, x)};
}

static mat3 axes_of(const quat& q)
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

/// Principal moments of a box.
static vec3 moments()
{
    const double xx = EDGES[0] * EDGES[0], yy = EDGES[1] * EDGES[1], zz = EDGES[2] * EDGES[2];
    return {MASS * (yy + zz) / 12.0, MASS * (xx + zz) / 12.0, MASS * (xx + yy) / 12.0};
}

/// Inverse of a box's tensor of inertia in world axes.
static mat3 inverse_inertia(const quat& q)
{
    const mat3 axes = axes_of(q);
    const vec3 moment = moments();
    mat3 inverse{};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                inverse[3 * i + j] += axes[3 * i + k] * axes[3 * j + k] / moment[k];
            }
        }
    }
    return inverse;
}

/// Two bodies at a contact: how they answer an impulse.
class meeting {
  public:
    meeting(const snapshot& s, const std::vector<mat3>& inverse, const contact& c)
        : a_(c.a < 0 ? nullptr : &s.bodies[c.a]), b_(&s.bodies[c.b]),
          inverse_a_(c.a < 0 ? mat3{} : inverse[c.a]), inverse_b_(inverse[c.b])
    {
        if (a_) arm_a_ = sum(c.point_a, -1.0, a_->place.position);
        arm_b_ = sum(c.point_b, -1.0, b_->place.position);
    }

    vec3 velocity() const
    {
        const vec3 u = sum(b_->velocity, 1.0, cross(b_->spin, arm_b_));
        return a_ ? sum(u, -1.0, sum(a_->velocity, 1.0, cross(a_->spin, arm_a_))) : u;
    }

    vec3 free_velocity() const
    {
        const vec3 u = sum(b_->free_velocity, 1.0, cross(b_->free_spin, arm_b_));
        return a_ ? sum(u, -1.0, sum(a_->free_velocity, 1.0, cross(a_->free_spin, arm_a_))) : u;
    }

    /// d . S d
    double response(const vec3& d) const
    {
        const vec3 turn_b = cross(arm_b_, d);
        double s = 1.0 / MASS + dot(turn_b, times(inverse_b_, turn_b));
        if (!a_) return s;
        const vec3 turn_a = cross(arm_a_, d);
        return s + 1.0 / MASS + dot(turn_a, times(inverse_a_, turn_a));
    }

    vec3 arm_a() const
    {
        return arm_a_;
    }
    vec3 arm_b() const
    {
        return arm_b_;
    }

  private:
    const body *a_, *b_;
    mat3 inverse_a_, inverse_b_;
    vec3 arm_a_{}, arm_b_{};
};

/// Projection on Coulomb's cone: the normal part first.
static vec3 project(const vec3& n, const vec3& q)
{
    const double along = dot(q, n), normal = std::max(along, 0.0);
    const vec3 across = sum(q, -along, n);
    const double size = std::sqrt(dot(across, across)), bound = FRICTION * normal;
    const double cut = size > bound ? bound / size : 1.0;
    return {normal * n[0] + cut * across[0], normal * n[1] + cut * across[1],
            normal * n[2] + cut * across[2]};
}

/// Sums over contacts that make a residual.
struct residual_sums {
    double error = 0.0, impulse = 0.0, stopping = 0.0;

    void count(const meeting& m, const contact& c, double bias)
    {
        const double trace = m.response({1, 0, 0}) + m.response({0, 1, 0}) + m.response({0, 0, 1});
        const double along = m.response(c.normal), mn = 1.0 / along, mt = 2.0 / (trace - along);
        const vec3 u = m.velocity();
        const double un = dot(u, c.normal);
        const vec3 slip = sum(u, -un, c.normal);
        vec3 q = sum(c.impulse, -mn * (un + bias), c.normal);
        q = project(c.normal, sum(q, -mt, slip));
        const vec3 e = sum(c.impulse, -1.0, q);
        const double stop = mn * std::max(0.0, -(dot(m.free_velocity(), c.normal) + bias));
        error += dot(e, e);
        impulse += dot(c.impulse, c.impulse);
        stopping += stop * stop;
    }
    double value() const
    {
        return std::sqrt(error / std::max(impulse, stopping));
    }
};

/// Largest difference between the velocities told and those that the impulses told make.
static double mismatch(const snapshot& s, const std::vector<mat3>& inverse)
{
    std::vector<vec3> v, w;
    for (const body& b : s.bodies) {
        v.push_back(sum(b.velocity, -1.0, b.free_velocity));
        w.push_back(sum(b.spin, -1.0, b.free_spin));
    }
    for (const contact& c : s.contacts) {
        const meeting m(s, inverse, c);
        v[c.b] = sum(v[c.b], -1.0 / MASS, c.impulse);
        w[c.b] = sum(w[c.b], -1.0, times(inverse[c.b], cross(m.arm_b(), c.impulse)));
        if (c.a < 0) continue;
        v[c.a] = sum(v[c.a], 1.0 / MASS, c.impulse);
        w[c.a] = sum(w[c.a], 1.0, times(inverse[c.a], cross(m.arm_a(), c.impulse)));
    }
    double most = 0.0;
    for (size_t i = 0; i < v.size(); i++) {
        const double speed = std::sqrt(dot(v[i], v[i])) + MEAN_EDGE * std::sqrt(dot(w[i], w[i]));
        most = std::max(most, speed);
    }
    return most / (GRAVITY * STEP);
}

static double kinetic_energy(const snapshot& s)
{
    const vec3 moment = moments();
    double energy = 0.0;
    for (const body& b : s.bodies) {
        const mat3 axes = axes_of(b.place.rotation);
        energy += 0.5 * MASS * dot(b.velocity, b.velocity);
        for (int k = 0; k < 3; k++) {
            const double spin = dot({axes[k], axes[3 + k], axes[6 + k]}, b.spin);
            energy += 0.5 * moment[k] * spin * spin;
        }
    }
    return energy / (MASS * GRAVITY * MEAN_EDGE * static_cast<double>(s.bodies.size()));
}

verdict judge(const snapshot& s)
{
    std::vector<mat3> inverse;
    for (const body& b : s.bodies) inverse.push_back(inverse_inertia(b.place.rotation));
    residual_sums by_gap, by_own;
    verdict out{};
    for (const contact& c : s.contacts) {
        const meeting m(s, inverse, c);
        by_gap.count(m, c, std::max(c.gap, 0.0) / STEP);
        by_own.count(m, c, c.own_bias);
        const double overlap = std::max(-c.gap, 0.0) / MEAN_EDGE;
        const bool active = dot(c.impulse, c.impulse) > 0.0;
        out.overlap_max = std::max(out.overlap_max, overlap);
        out.overlap_mean += active ? overlap : 0.0;
        out.active += active;
    }
    out.contacts = static_cast<int>(s.contacts.size());
    out.overlap_mean /= std::max(out.active, 1);
    out.residual = by_gap.value();
    out.own_residual = by_own.value();
    out.mismatch = mismatch(s, inverse);
    out.kinetic_energy = kinetic_energy(s);
    return out;
}
