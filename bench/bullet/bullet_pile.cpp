/// The pile in Bullet: its standard dynamics world with sequential impulses, one thread.
///
/// A btBoxShape keeps its margin (0.04 m) inside its edges and Bullet's box-box detector works with
/// the outer, sharp boxes, so both codes have the same boxes; a ball's margin is its radius. The
/// container is made of thick boxes.
/// Friction coefficients are multiplied, so each body has the root. Nothing is damped. Contacts
/// that overlap are pushed apart by Baumgarte's term, at 20 % (Bullet's erp2) of the overlap a
/// step: that is Bullet's own law, and its residual is evaluated for that law as well.
#include "pile.h"

#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <unordered_map>

static vec3 from_bullet(const btVector3& v)
{
    return {v.x(), v.y(), v.z()};
}

static btVector3 to_bullet(const vec3& v)
{
    return {static_cast<btScalar>(v[0]), static_cast<btScalar>(v[1]), static_cast<btScalar>(v[2])};
}

class bullet_pile : public pile {
  public:
    bullet_pile(const scene& what, const std::vector<placed>& start, const bullet_choice& choice)
        : what_(what), dispatcher_(&configuration_),
          world_(&dispatcher_, &broadphase_, &solver_, &configuration_), sleeping_(choice.sleeping)
    {
        world_.setGravity({0, 0, static_cast<btScalar>(-GRAVITY)});
        btContactSolverInfo& info = world_.getSolverInfo();
        info.m_numIterations = choice.iterations;
        if (choice.two_directions) {
            info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS |
                                 SOLVER_ENABLE_FRICTION_DIRECTION_CACHING |
                                 SOLVER_DISABLE_VELOCITY_DEPENDENT_FRICTION_DIRECTION;
        }
        add_container();
        for (const placed& p : start) add_body(p);
    }
    ~bullet_pile() override
    {
        for (auto& b : bodies_) world_.removeRigidBody(b.get());
        for (auto& b : walls_) world_.removeRigidBody(b.get());
    }

    void step() override
    {
        const btScalar h = static_cast<btScalar>(what_.step);
        world_.stepSimulation(h, 1, h);
    }

    std::vector<placed> places() const override
    {
        std::vector<placed> out;
        for (const auto& b : bodies_) {
            const btQuaternion q = b->getCenterOfMassTransform().getRotation();
            out.push_back(
                {from_bullet(b->getCenterOfMassPosition()), {q.w(), q.x(), q.y(), q.z()}});
        }
        return out;
    }

    snapshot observed_step() override
    {
        snapshot s;
        const std::vector<placed> before = places();
        for (size_t i = 0; i < bodies_.size(); i++) {
            vec3 free = from_bullet(bodies_[i]->getLinearVelocity());
            free[2] -= what_.step * GRAVITY;
            s.bodies.push_back(
                {before[i], free, from_bullet(bodies_[i]->getAngularVelocity()), {}, {}});
        }
        step();
        for (size_t i = 0; i < bodies_.size(); i++) {
            s.bodies[i].velocity = from_bullet(bodies_[i]->getLinearVelocity());
            s.bodies[i].spin = from_bullet(bodies_[i]->getAngularVelocity());
        }
        for (int i = 0; i < dispatcher_.getNumManifolds(); i++) {
            const btPersistentManifold* m = dispatcher_.getManifoldByIndexInternal(i);
            for (int k = 0; k < m->getNumContacts(); k++)
                read_contact(s, *m, m->getContactPoint(k));
        }
        return s;
    }

  private:
    scene what_;
    btDefaultCollisionConfiguration configuration_;
    btCollisionDispatcher dispatcher_;
    btDbvtBroadphase broadphase_;
    btSequentialImpulseConstraintSolver solver_;
    btDiscreteDynamicsWorld world_;
    bool sleeping_;
    std::vector<std::unique_ptr<btCollisionShape>> shapes_;
    std::vector<std::unique_ptr<btRigidBody>> walls_, bodies_;

    std::unique_ptr<btRigidBody> make_body(double mass, btCollisionShape& shape,
                                           const btTransform& at)
    {
        btVector3 inertia(0, 0, 0);
        if (mass > 0.0) shape.calculateLocalInertia(static_cast<btScalar>(mass), inertia);
        btRigidBody::btRigidBodyConstructionInfo info(static_cast<btScalar>(mass), nullptr, &shape,
                                                      inertia);
        info.m_startWorldTransform = at;
        info.m_friction = static_cast<btScalar>(std::sqrt(what_.friction));
        return std::make_unique<btRigidBody>(info);
    }

    /// A floor and four walls, 5 m thick.
    void add_container()
    {
        const double half = 2.5, high = 0.5 * what_.height, inner = what_.half_width;
        const double packed = inner + 2.0 * half;
        const vec3 sizes[5] = {{packed, packed, half},
                               {half, packed, high},
                               {half, packed, high},
                               {packed, half, high},
                               {packed, half, high}};
        const vec3 centres[5] = {{0, 0, -half},
                                 {-inner - half, 0, high},
                                 {inner + half, 0, high},
                                 {0, -inner - half, high},
                                 {0, inner + half, high}};
        for (int i = 0; i < 5; i++) {
            shapes_.push_back(std::make_unique<btBoxShape>(to_bullet(sizes[i])));
            btTransform at(btQuaternion::getIdentity(), to_bullet(centres[i]));
            walls_.push_back(make_body(0.0, *shapes_.back(), at));
            walls_.back()->setUserIndex(-1);
            world_.addRigidBody(walls_.back().get());
        }
    }

    void add_body(const placed& p)
    {
        const btQuaternion q(
            static_cast<btScalar>(p.rotation[1]), static_cast<btScalar>(p.rotation[2]),
            static_cast<btScalar>(p.rotation[3]), static_cast<btScalar>(p.rotation[0]));
        const size_t i = bodies_.size();
        double mass = MASS;
        if (what_.radii.empty()) {
            if (i == 0) shapes_.push_back(std::make_unique<btBoxShape>(0.5f * to_bullet(EDGES)));
        } else {
            const double r = what_.radii[i];
            mass = ball_mass(r);
            shapes_.push_back(std::make_unique<btSphereShape>(static_cast<btScalar>(r)));
        }
        bodies_.push_back(make_body(mass, *shapes_.back(), btTransform(q, to_bullet(p.position))));
        bodies_.back()->setUserIndex(static_cast<int>(i));
        if (!sleeping_) bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
        world_.addRigidBody(bodies_.back().get());
    }

    /// Bullet's normal points from its second body to its first, which gets the impulses.
    void read_contact(snapshot& s, const btPersistentManifold& m, const btManifoldPoint& p) const
    {
        contact c{};
        c.a = m.getBody1()->getUserIndex();
        c.b = m.getBody0()->getUserIndex();
        c.point_a = from_bullet(p.getPositionWorldOnB());
        c.point_b = from_bullet(p.getPositionWorldOnA());
        c.normal = from_bullet(p.m_normalWorldOnB);
        btVector3 impulse = p.m_appliedImpulse * p.m_normalWorldOnB +
                            p.m_appliedImpulseLateral1 * p.m_lateralFrictionDir1 +
                            p.m_appliedImpulseLateral2 * p.m_lateralFrictionDir2;
        c.impulse = from_bullet(impulse);
        c.gap = p.getDistance();
        const double erp = world_.getSolverInfo().m_erp2;
        c.own_bias = c.gap > 0.0 ? c.gap / what_.step : erp * c.gap / what_.step;
        if (c.b < 0) { // the container came first
            std::swap(c.a, c.b);
            std::swap(c.point_a, c.point_b);
            for (size_t k = 0; k < 3; k++) {
                c.normal[k] = -c.normal[k];
                c.impulse[k] = -c.impulse[k];
            }
        }
        s.contacts.push_back(c);
    }
};

std::unique_ptr<pile> make_bullet(const scene& what, const std::vector<placed>& start,
                                  const bullet_choice& choice)
{
    return std::make_unique<bullet_pile>(what, start, choice);
}
