/// The pile in Talus, by its public interface.
#include "pile.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <talus/talus.h>

static void check(talus_status status, const talus_error& error)
{
    if (status == TALUS_OK) return;
    std::fprintf(stderr, "benchmark failed: %s\n", error.text);
    std::exit(1);
}

class talus_pile : public pile {
  public:
    talus_pile(const scene& what, const std::vector<placed>& start, const talus_choice& choice)
        : what_(what)
    {
        talus_world_def def = talus_world_default();
        def.gravity[2] = -GRAVITY;
        def.solver.tolerance = choice.tolerance;
        def.solver.stop = choice.stop == rule::residual ? TALUS_STOP_RESIDUAL : TALUS_STOP_RIGID;
        if (choice.how != method::fast) def.solver.method = TALUS_SOLVER_SWEEPS;
        if (choice.how == method::forward_sweeps) def.solver.order = TALUS_ORDER_FORWARD;
        check(talus_world_create(&def, &world_, &error_), error_);
        talus_pair_def law = talus_pair_default();
        law.friction = what_.friction;
        check(talus_world_add_material(world_, "stone", &law, nullptr, &error_), error_);
        add_container();
        const talus_solid_id brick = what_.radii.empty() ? add_shape() : TALUS_NO_SOLID;
        for (const placed& p : start) add_body(brick, p);
    }
    ~talus_pile() override
    {
        talus_world_destroy(world_);
    }
    talus_pile(const talus_pile&) = delete;
    talus_pile& operator=(const talus_pile&) = delete;

    void step() override
    {
        check(talus_world_step(world_, what_.step, nullptr, &error_), error_);
    }

    std::vector<placed> places() const override
    {
        const talus_grains g = talus_world_grains(world_);
        std::vector<placed> out(static_cast<size_t>(g.count));
        for (size_t i = 0; i < out.size(); i++) {
            for (size_t k = 0; k < 3; k++) out[i].position[k] = g.position[3 * i + k];
            for (size_t k = 0; k < 4; k++) out[i].rotation[k] = g.rotation[4 * i + k];
        }
        return out;
    }

    vec3 seconds() const override
    {
        const talus_totals* t = talus_world_totals(world_);
        return {t->seconds_detect, t->seconds_solve, t->seconds_advance};
    }

    snapshot observed_step() override
    {
        snapshot s;
        for (const placed& p : places()) s.bodies.push_back({p, {}, {}, {}, {}});
        read_velocities(s, &body::free_velocity, &body::free_spin);
        for (body& b : s.bodies) b.free_velocity[2] -= what_.step * GRAVITY;
        step();
        read_velocities(s, &body::velocity, &body::spin);
        read_contacts(s);
        return s;
    }

  private:
    scene what_;
    talus_world* world_ = nullptr;
    talus_error error_{};
    size_t added_ = 0;

    void add_container()
    {
        talus_wall_def wall = talus_wall_default();
        wall.name = "container";
        wall.shape.kind = TALUS_SHAPE_BOX;
        wall.shape.inside = true;
        wall.shape.open_faces = TALUS_FACE_Z_HIGH;
        wall.shape.half_size[0] = wall.shape.half_size[1] = what_.half_width;
        wall.shape.half_size[2] = wall.position[2] = 0.5 * what_.height;
        check(talus_world_add_wall(world_, &wall, nullptr, &error_), error_);
    }

    talus_solid_id add_shape()
    {
        double points[24];
        for (int i = 0; i < 24; i++) {
            const int corner = i / 3, k = i % 3;
            points[i] = ((corner >> k & 1) - 0.5) * EDGES[static_cast<size_t>(k)];
        }
        talus_solid_def def = talus_solid_default();
        def.name = "brick";
        def.points = points;
        def.point_count = 8;
        talus_solid_id id;
        check(talus_world_add_solid(world_, &def, &id, &error_), error_);
        return id;
    }

    void add_body(talus_solid_id brick, const placed& p)
    {
        talus_grain_def def = talus_grain_default();
        if (talus_solid_is_none(brick)) def.radius = what_.radii[added_++];
        const double sine = std::sqrt(std::fmax(0.0, 1.0 - p.rotation[0] * p.rotation[0]));
        const double angle = 2.0 * std::atan2(sine, p.rotation[0]);
        def.solid = brick;
        def.density = DENSITY;
        for (size_t k = 0; k < 3; k++) {
            def.position[k] = p.position[k];
            def.rotation[k] = sine > 0.0 ? angle * p.rotation[k + 1] / sine : 0.0;
        }
        check(talus_world_add_grain(world_, &def, nullptr, &error_), error_);
    }

    void read_velocities(snapshot& s, vec3 body::*velocity, vec3 body::*spin) const
    {
        const talus_grains g = talus_world_grains(world_);
        for (size_t i = 0; i < s.bodies.size(); i++) {
            for (size_t k = 0; k < 3; k++) {
                (s.bodies[i].*velocity)[k] = g.velocity[3 * i + k];
                (s.bodies[i].*spin)[k] = g.spin[3 * i + k];
            }
        }
    }

    void read_contacts(snapshot& s) const
    {
        const talus_contacts list = talus_world_contacts(world_);
        for (size_t c = 0; c < static_cast<size_t>(list.count); c++) {
            contact out{};
            out.a =
                list.a[c] < 0 ? -1 : static_cast<int>(talus_world_grain_index(world_, list.a[c]));
            out.b = static_cast<int>(talus_world_grain_index(world_, list.b[c]));
            for (size_t k = 0; k < 3; k++) {
                out.point_a[k] = out.point_b[k] = list.point[3 * c + k];
                out.normal[k] = list.normal[3 * c + k];
                out.impulse[k] = what_.step * list.force[3 * c + k];
            }
            out.gap = list.gap[c];
            out.own_bias = std::fmax(out.gap, 0.0) / what_.step;
            s.contacts.push_back(out);
        }
    }
};

std::unique_ptr<pile> make_talus(const scene& what, const std::vector<placed>& start,
                                 const talus_choice& choice)
{
    return std::make_unique<talus_pile>(what, start, choice);
}
