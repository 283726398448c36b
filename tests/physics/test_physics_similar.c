/// Random worlds in other units: the same to the last bit.
///
/// Units that are powers of two change no digit of any number. So a world must come out the same,
/// scaled, unless the code has a length, a time or a mass of its own.
#include "physics.h"

enum { GRAINS = 24, STEPS = 40, SCENES = 24 };

/// What may be switched on, one bit each.
enum { FRICTION = 1, BOUNCE = 2, ROLLING = 4, COHESION = 8, DYNAMIC = 16, LAWS = 32 };

/// Units, as powers of two.
typedef struct units {
    int length, time, mass;
} units;

typedef struct outcome {
    double position[GRAINS][3], velocity[GRAINS][3]; ///< in units of 1
    int64_t contacts;
} outcome;

static talus_world* make_world(int dim, unsigned laws, const units* u)
{
    talus_world_def def = physics_def(dim);
    def.threads = 1;
    def.gravity[dim - 1] = ldexp(-9.81, u->length - 2 * u->time);
    const int force = u->mass + u->length - 2 * u->time;
    talus_pair_def law = talus_pair_default();
    if (laws & FRICTION) law.friction = 0.4;
    if ((laws & FRICTION) && (laws & DYNAMIC)) law.dynamic_friction = 0.3;
    if (laws & BOUNCE) law.restitution = 0.6;
    if (laws & ROLLING) law.rolling = 0.25;
    if (laws & ROLLING) law.rolling_kind = TALUS_ROLLING_RADIUS;
    if (laws & COHESION) law.cohesion_force = ldexp(0.25, force);
    return physics_world_pair(&def, &law);
}

static void add_walls(talus_world* world, int dim, const units* u)
{
    const double far = ldexp(0.5, u->length);
    physics_plane(world, "left", 1, 0, 0);
    physics_plane_at(world, "right", -1, 0, 0, far, 0, 0);
    physics_plane(world, "floor", 0, dim == 2, dim == 3);
    if (dim == 2) return;
    physics_plane(world, "front", 0, 1, 0);
    physics_plane_at(world, "back", 0, -1, 0, 0, far, 0);
}

/// A box of grains on a disturbed lattice that fall, knock and lean on each other.
static void live(int dim, unsigned laws, uint64_t seed, const units* u, outcome* out)
{
    talus_world* world = make_world(dim, laws, u);
    add_walls(world, dim, u);
    dice d = {seed};
    const int side = dim == 2 ? 4 : 3;
    for (int i = 0; i < GRAINS; i++) {
        const double r = 0.054 + 0.006 * dice_roll(&d);
        const int cell[3] = {i % side, dim == 2 ? i / side : i / side % side, i / (side * side)};
        talus_grain_def ball = physics_ball(ldexp(r, u->length), 1.0, 0, 0, 0);
        ball.mass = ldexp(1.0 + dice_roll(&d), u->mass);
        for (int k = 0; k < dim; k++) {
            const double x = 0.065 + 0.122 * cell[k] + 0.002 * dice_roll(&d);
            ball.position[k] = ldexp(x, u->length);
            ball.velocity[k] = ldexp(dice_roll(&d) - 0.5, u->length - u->time);
        }
        physics_add(world, &ball);
    }
    physics_steps(world, ldexp(2e-3, u->time), STEPS);
    const talus_grains g = talus_world_grains(world);
    for (int i = 0; i < GRAINS; i++) {
        for (int k = 0; k < dim; k++) {
            out->position[i][k] = ldexp(g.position[i * dim + k], -u->length);
            out->velocity[i][k] = ldexp(g.velocity[i * dim + k], u->time - u->length);
        }
    }
    out->contacts = talus_world_contacts(world).count;
    talus_world_destroy(world);
}

static double distance(const outcome* a, const outcome* b)
{
    double worst = 0.0;
    for (int i = 0; i < GRAINS; i++) {
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(a->velocity[i][k] - b->velocity[i][k]));
            worst = fmax(worst, fabs(a->position[i][k] - b->position[i][k]));
        }
    }
    return worst;
}

/// All laws off, all on, and others in between.
static unsigned laws_of(int scene)
{
    return scene == 0 ? 0 : scene == 1 ? LAWS - 1 : (unsigned)(scene * 7) % LAWS;
}

static void units_change_nothing(void** state)
{
    (void)state;
    // A factor of a million, up and down, for each, and for all at once.
    static const units others[] = {{.length = 20},
                                   {.length = -20},
                                   {.time = 20},
                                   {.time = -20},
                                   {.mass = 20},
                                   {.mass = -20},
                                   {.length = -20, .time = -10, .mass = -40}};
    for (int scene = 0; scene < SCENES; scene++) {
        const int dim = 2 + scene % 2;
        outcome first = {0}, other = {0};
        const units* u = &others[scene % (int)(sizeof others / sizeof *others)];
        live(dim, laws_of(scene), (uint64_t)scene, &(units){0}, &first);
        live(dim, laws_of(scene), (uint64_t)scene, u, &other);
        assert_true(first.contacts > GRAINS / 4); // or nothing would be seen of the laws
        assert_int_equal(first.contacts, other.contacts);
        printf("scene %d, %dD, laws %u: ", scene, dim, laws_of(scene));
        check_below("in other units", distance(&first, &other), 0.0, "no digit changes");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
