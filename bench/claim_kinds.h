/// Kinds of contact problems that are hard to solve or hard to judge, drawn from seeds.
#ifndef TALUS_BENCH_CLAIM_KINDS_H
#define TALUS_BENCH_CLAIM_KINDS_H

#include "claim_build.h"
#include "claim_machines.h"
#include "claim_structures.h"

// ---- bonded structures -------------------------------------------------------------------------

/// A row of bonded balls that sticks out from a fixed one, straight or bent, into any direction;
/// its own weight or a force at its end bends it.
static inline void make_beam(draft* d)
{
    const int count = grain_number(d, 3, d->dim == 2 ? 150 : 60);
    const bool end_load = chance(d, 0.3);
    double angle = between(d, -1.6, 1.6), bend = chance(d, 0.4) ? between(d, 0.0, 0.5) : 0.0;
    bonded_law(d, end_load ? count : 0.4 * count * count);
    begin_world(d, 0.0);
    double x = 0.0, up = 0.0;
    int64_t last = 0;
    for (int i = 0; i < count; i++) {
        talus_grain_def def = ball_at(d, 1.0, ball_mass(d, 1.0), x, up);
        def.fixed = i == 0;
        last = add_grain_def(d, &def);
        const double turned = angle + between(d, -bend, bend);
        x += cos(turned), up += sin(turned);
    }
    bond(d);
    set_gravity(d, 0.0, end_load ? 0.0 : -1.0);
    if (end_load) load_grain(d, last, between(d, -1.0, 1.0), -1.0);
}

/// A bonded lattice of some rows, fixed at one end or at both: statically redundant.
static inline void make_frame(draft* d)
{
    const int rows = whole(d, 2, 4), columns = grain_number(d, 4, d->dim == 2 ? 40 : 20);
    const bool both = chance(d, 0.5), triangular = chance(d, 0.7);
    bonded_law(d, columns * 0.4);
    begin_world(d, 0.0);
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < columns; i++) {
            const double shift = triangular ? 0.5 * (j % 2) : 0.0;
            talus_grain_def def =
                ball_at(d, 1.0, ball_mass(d, 1.0), i + shift, j * (triangular ? sqrt(0.75) : 1.0));
            def.fixed = i == 0 || (both && i == columns - 1);
            if (d->dim == 3 && triangular) def.position[1] = 0.0;
            add_grain_def(d, &def);
        }
    }
    bond(d);
    set_gravity(d, between(d, -0.3, 0.3), -1.0);
}

/// A settled pile that has become bonded; some of it is pulled up or aside.
static inline void make_bonds(draft* d)
{
    d->law.cohesion_force = log_between(d, 0.1, 300.0);
    d->law.cohesion_energy = 0.05 * d->law.cohesion_force;
    if (chance(d, 0.5)) d->law.rolling = between(d, 0.01, 0.3);
    const pile p = pile_of(d, grain_number(d, 8, 120));
    settled_pile(d, &p);
    const talus_grains g = grains_of(d);
    const double pull = log_between(d, 0.1, 100.0);
    for (int64_t i = 0; i < g.count; i++) {
        if (chance(d, 0.1)) load_grain(d, i, pull * between(d, -1.0, 1.0), pull);
    }
}

// ---- towers, arches, wedges --------------------------------------------------------------------

/// A column of balls, or of bricks that do not lie quite straight, pressed from above and perhaps
/// pushed aside a little.
static inline void make_tower(draft* d)
{
    const bool bricks = chance(d, 0.5);
    const int count = grain_number(d, 2, bricks ? (d->dim == 2 ? 100 : 40) : 200);
    const double offset = bricks && chance(d, 0.6) ? 0.02 : 0.0;
    begin_world(d, 1.0);
    add_floor(d);
    if (bricks) add_box(d, 1.0, 1.0, 1.0);
    int64_t top = 0;
    for (int i = 0; i < count; i++) {
        talus_grain_def def = ball_at(d, 1.0, ball_mass(d, 1.0), 0.0, i + 0.5);
        if (bricks) def.solid.index = 0;
        for (int k = 0; k < d->dim - 1; k++) def.position[k] = between(d, -offset, offset);
        top = add_grain_def(d, &def);
    }
    const double press = chance(d, 0.7) ? mass_of(d) * log_between(d, 0.1, 1e4) : 0.0;
    const double push = chance(d, 0.4) ? 0.1 * fmax(press, 1.0) * rng_uniform(&d->r) : 0.0;
    load_grain(d, top, push, -press);
    if (chance(d, 0.3)) run(d, d->h, 1);
}

/// Voussoirs of an arch between two fixed ones, or a row of balls in an arc.
static inline void make_arch(draft* d)
{
    const bool voussoirs = d->dim == 2 && chance(d, 0.6);
    const int count = grain_number(d, 5, voussoirs ? 30 : 100);
    const double opening = between(d, 0.6, 1.45), step = 2.0 * opening / count; // of the arc
    // An arc of n balls has the radius at which neighbours touch.
    const double radius = voussoirs ? count * 0.5 : 0.5 / sin(0.5 * step);
    talus_error error = {0};
    begin_world(d, 1.0);
    for (int i = 0; i < count; i++) {
        const double from = -opening + i * step, middle = from + 0.5 * step;
        talus_grain_def def = ball_at(d, 1.0, 0.0, radius * sin(middle), radius * cos(middle));
        def.density = 1.0;
        if (voussoirs) {
            double points[8];
            for (int k = 0; k < 4; k++) {
                const double angle = from + (k % 2) * step, r = radius + (k / 2 ? 0.5 : -0.5);
                points[2 * k] = r * sin(angle), points[2 * k + 1] = r * cos(angle);
            }
            talus_solid_state state;
            def.solid = add_solid(d, points, 4);
            claim_ok(talus_world_solid(d->world, def.solid, &state, &error), error.text);
            memcpy(def.position, state.centre, sizeof def.position);
        }
        def.fixed = i == 0 || i == count - 1;
        const int64_t id = add_grain_def(d, &def);
        if (!def.fixed && chance(d, 0.1)) load_grain(d, id, 0.0, -log_between(d, 1.0, 100.0));
    }
}

/// Grains in a steep or flat trough, the highest pressed down.
static inline void make_wedge(draft* d)
{
    const double half_angle = log_between(d, 0.03, 0.8);
    const int count = grain_number(d, 1, 60);
    begin_world(d, 1.0);
    add_plane(d, "left", 0.0, 0.0, cos(half_angle), sin(half_angle));
    add_plane(d, "right", 0.0, 0.0, -cos(half_angle), sin(half_angle));
    double up = 0.5 / sin(half_angle);
    int64_t top = 0;
    for (int i = 0; i < count; i++) {
        const double size = between(d, 0.6, 1.0);
        up = fmax(up, 0.5 * size / sin(half_angle) * 1.001);
        top = add_ball(d, size, ball_mass(d, size), between(d, -0.01, 0.01), up);
        up += 1.01;
    }
    run(d, 0.05, whole(d, 5, 60));
    if (chance(d, 0.7)) load_grain(d, top, 0.0, -log_between(d, 1.0, 1e5));
}

/// Rows of equal balls exactly in contact under a lid: redundant, and all friction may share.
static inline void make_lattice(draft* d)
{
    const int rows = whole(d, 2, 10), columns = grain_number(d, 3, d->dim == 2 ? 20 : 8);
    const bool squares = chance(d, 0.3);
    const double rise = squares ? 1.0 : sqrt(0.75), step = 1.0;
    begin_world(d, 1.0);
    add_floor(d);
    add_plane(d, "left", 0.0, 0.0, 1.0, 0.0);
    add_plane(d, "right", step * (columns + 0.5), 0.0, -1.0, 0.0);
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < columns; i++) {
            const double x = 0.5 + i * step + (squares ? 0.0 : 0.5 * (j % 2));
            add_ball(d, 1.0, ball_mass(d, 1.0), x, 0.5 + rise * j);
        }
    }
    if (chance(d, 0.7)) {
        add_lid(d, log_between(d, 1e-3, 1e3) * mass_of(d), log_between(d, 0.1, 1e3) * mass_of(d));
    }
}

// ---- unequal grains ----------------------------------------------------------------------------

/// Masses that differ by up to 1e9, heavy on light, light on heavy or at random.
static inline void make_masses(draft* d)
{
    pile p = pile_of(d, grain_number(d, 6, 250));
    p.masses = log_between(d, 10.0, 1e9);
    p.order = (mass_order)whole(d, MASS_RANDOM, MASS_LIGHT_ABOVE);
    settled_pile(d, &p);
}

/// A light column or pile, and others at a distance, up to 1e9 times as heavy and pressed.
static inline void make_far(draft* d)
{
    begin_world(d, 1.0);
    add_floor(d);
    const int others = whole(d, 1, 4);
    double x = 0.0;
    for (int k = 0; k <= others; k++) {
        const int count = grain_number(d, 1, 40);
        const double heavy = k == 0 ? 1.0 : log_between(d, 1e-3, 1e9);
        int64_t top = 0;
        for (int i = 0; i < count; i++) {
            top = add_ball(d, 1.0, heavy * ball_mass(d, 1.0), x, 0.5 + i);
        }
        if (chance(d, 0.4)) load_grain(d, top, 0.0, -heavy * log_between(d, 1.0, 1e5));
        x += chance(d, 0.2) ? 1.0 : log_between(d, 1.5, 100.0); // some touch
    }
    if (chance(d, 0.4)) run(d, d->h, 1);
}

/// Grains of 1 and of 20.
static inline void make_sizes(draft* d)
{
    const double largest = log_between(d, 3.0, 20.0);
    const int many = grain_number(d, 10, 200), wide = (int)(1.4 * largest) + 2;
    const bool above = chance(d, 0.5); // the large one falls on the small ones, or lies below
    pile p = {.count = many,
              .wide = d->dim == 2 ? wide : (int)(0.5 * wide) + 1,
              .spread = 2.0,
              .masses = 1.0};
    begin_world(d, 1.0);
    add_container(d, &p);
    const double width = pile_width(&p), size = fmin(largest, 0.9 * width);
    const int deep = d->dim == 3 ? p.wide : 1;
    const double layers = 1.08 * (many / (p.wide * deep) + 1);
    talus_grain_def def =
        ball_at(d, size, ball_mass(d, size), 0.5 * width, 0.52 * size + (above ? layers : 0.0));
    if (d->dim == 3) def.position[1] = 0.5 * width;
    add_grain_def(d, &def);
    for (int i = 0; i < many; i++) {
        if (above) {
            drop_grain(d, &p, i, 0.0);
        } else { // all above the large one
            const double s = between(d, 0.5, 1.0);
            talus_grain_def small = ball_at(d, s, ball_mass(d, s), 1.08 * (i % p.wide + 0.5),
                                            size + 1.0 + 1.08 * (double)(i / (p.wide * deep)));
            if (d->dim == 3) small.position[1] = 1.08 * (i / p.wide % deep + 0.5);
            add_grain_def(d, &small);
        }
    }
    run(d, 0.05, whole(d, 60, 140));
}

// ---- loads -------------------------------------------------------------------------------------

/// A pile under a mobile lid, light as a feather or heavy as a ship.
static inline void make_lid(draft* d)
{
    const pile p = pile_of(d, grain_number(d, 8, 300));
    settled_pile(d, &p);
    const double mass = mass_of(d);
    add_lid(d, mass * log_between(d, 1e-6, 1e6),
            chance(d, 0.8) ? mass * log_between(d, 0.1, 1e4) : 0);
    run(d, 0.01, whole(d, 0, 5));
}

/// A pile, some of whose grains are pushed or pulled, and perhaps a wall that moves into it.
static inline void make_push(draft* d)
{
    const pile p = pile_of(d, grain_number(d, 8, 300));
    const talus_wall_id right = settled_pile(d, &p);
    talus_error error = {0};
    if (chance(d, 0.5)) {
        talus_drive_def drive = talus_drive_default();
        drive.kind = TALUS_DRIVE_VELOCITY;
        drive.velocity[0] = -log_between(d, 1e-3, 10.0);
        claim_ok(talus_world_set_drive(d->world, right, &drive, &error), error.text);
    }
    const int64_t count = grains_of(d).count;
    const double strength = log_between(d, 0.1, 1e4);
    for (int k = whole(d, 0, 4); k > 0; k--) {
        load_grain(d, (int64_t)rng_below(&d->r, (uint64_t)count), strength * between(d, -1.0, 1.0),
                   strength * between(d, -1.0, 1.0));
    }
}

/// A row or a stack at rest, one of whose grains is kicked.
static inline void make_kick(draft* d)
{
    const int count = grain_number(d, 2, 200);
    const bool upright = chance(d, 0.5);
    begin_world(d, chance(d, 0.5) ? 1.0 : 0.0);
    add_floor(d);
    for (int i = 0; i < count; i++) {
        talus_grain_def def = ball_at(d, 1.0, ball_mass(d, 1.0) * log_between(d, 1.0, 10.0),
                                      upright ? 0.0 : i, 0.5 + (upright ? i : 0));
        if (i == (upright ? count - 1 : 0)) {
            const double speed = log_between(d, 0.01, 100.0);
            def.velocity[0] = upright ? 0.3 * speed * between(d, -1.0, 1.0) : speed;
            def.velocity[d->dim - 1] = upright ? -speed : 0.0;
            for (int k = 0; k < 3; k++) def.spin[k] = speed * between(d, -1.0, 1.0);
        }
        add_grain_def(d, &def);
    }
}

// ---- flows -------------------------------------------------------------------------------------

/// The wall of a settled pile is taken away: a step of the collapse.
static inline void make_collapse(draft* d)
{
    pile p = pile_of(d, grain_number(d, 20, 500));
    if (chance(d, 0.5)) p.wide = p.wide / 2 + 1;
    remove_wall(d, settled_pile(d, &p));
    run(d, d->h, whole(d, 0, 60));
}

/// A dense block of rows that begins to slide, when nothing holds it any more.
static inline void make_dam(draft* d)
{
    const int columns = grain_number(d, 3, d->dim == 2 ? 24 : 8), rows = whole(d, 3, 14);
    const double slope = between(d, 0.0, 0.6);
    begin_world(d, 1.0);
    add_floor(d);
    if (chance(d, 0.5)) add_plane(d, "left", 0.0, 0.0, 1.0, 0.0);
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < columns; i++) {
            const double size = 1.0 - 0.02 * rng_uniform(&d->r);
            add_ball(d, size, ball_mass(d, size), 0.5 + i + 0.5 * (j % 2), 0.5 + sqrt(0.75) * j);
        }
    }
    set_gravity(d, sin(slope), -cos(slope));
    run(d, d->h, whole(d, 0, 40));
}

/// A drum that turns: a circle, or a cylinder with a periodic axis.
static inline void make_drum(draft* d)
{
    const int count = grain_number(d, 20, 400);
    const double deep = 4.0; // of a cylinder
    const double radius = d->dim == 2 ? fmax(2.0, 0.8 * sqrt(count)) : fmax(2.0, 0.6 * sqrt(count));
    const double around[3] = {0.0, d->dim == 3 ? deep : 0.0, 0.0};
    begin_periodic(d, 1.0, around);
    talus_wall_def drum = talus_wall_default();
    drum.name = "drum";
    drum.shape.kind = TALUS_SHAPE_CYLINDER;
    drum.shape.inside = true;
    drum.shape.radius = radius;
    drum.shape.axis[1] = 1.0;
    drum.drive.kind = TALUS_DRIVE_VELOCITY;
    drum.drive.spin[d->dim == 2 ? 2 : 1] = log_between(d, 0.01, 1.0) / sqrt(radius);
    add_wall(d, &drum);
    int placed = 0;
    for (double up = -radius; up < radius && placed < count; up += 1.02) {
        for (double x = -radius; x < radius && placed < count; x += 1.02) {
            for (double y = 0.5; y < (d->dim == 3 ? deep : 1.0) && placed < count; y += 1.0) {
                if (hypot(x, up) > radius - 0.55) continue;
                talus_grain_def grain = ball_at(d, between(d, 0.8, 1.0), 0.5, x, up);
                if (d->dim == 3) grain.position[1] = y;
                add_grain_def(d, &grain);
                placed++;
            }
        }
    }
    run(d, 0.05, whole(d, 30, 100));
}

/// A slot opens under a pile in a funnel of two inclined walls.
static inline void make_hopper(draft* d)
{
    const int count = grain_number(d, 30, 400);
    const double slot = between(d, 1.0, 5.0), slope = between(d, 0.3, 1.2), length = 20.0;
    pile p = pile_of(d, count);
    begin_world(d, 1.0);
    for (int side = -1; side <= 1; side += 2) {
        talus_wall_def wall = talus_wall_default();
        wall.name = side < 0 ? "left" : "right";
        wall.shape.kind = d->dim == 2 ? TALUS_SHAPE_SEGMENT : TALUS_SHAPE_PLATE;
        wall.shape.edge_u[0] = side * 0.5 * length * cos(slope);
        wall.shape.edge_u[d->dim - 1] = 0.5 * length * sin(slope);
        wall.shape.edge_v[1] = d->dim == 3 ? 50.0 : 0.0;
        wall.position[0] = side * 0.5 * slot + wall.shape.edge_u[0];
        wall.position[d->dim - 1] = wall.shape.edge_u[d->dim - 1];
        add_wall(d, &wall);
    }
    const talus_wall_id gate = add_plane(d, "gate", 0.0, 0.0, 0.0, 1.0);
    const double lift = 0.5 * pile_width(&p) * tan(slope);
    for (int i = 0; i < p.count; i++) drop_grain(d, &p, i, -0.5 * pile_width(&p));
    talus_editable_grains edit;
    talus_error error = {0};
    claim_ok(talus_world_edit_grains(d->world, &edit, &error), error.text);
    for (int64_t i = 0; i < edit.count; i++) edit.position[i * d->dim + d->dim - 1] += lift;
    settle(d);
    remove_wall(d, gate);
    run(d, 0.03, whole(d, 0, 50));
}

/// Plane shear: a periodic layer under a lid on a floor that moves.
static inline void make_shear(draft* d)
{
    pile p = pile_of(d, grain_number(d, 20, 300));
    if (p.wide < 4) p.wide = 4;
    const double width = pile_width(&p), around[3] = {width, d->dim == 3 ? width : 0.0, 0.0};
    begin_periodic(d, 1.0, around);
    talus_wall_def floor = plane_at(d, "floor", 0.0, 0.0, 0.0, 1.0);
    floor.drive.kind = TALUS_DRIVE_VELOCITY;
    floor.drive.velocity[0] = log_between(d, 0.01, 10.0);
    add_wall(d, &floor);
    drop_pile(d, &p, 0.0);
    settle(d);
    add_lid(d, mass_of(d) * log_between(d, 0.01, 10.0), mass_of(d) * log_between(d, 0.1, 100.0));
    run(d, 0.02, whole(d, 0, 40));
}

// ---- shapes ------------------------------------------------------------------------------------

/// A pile of polygons or polyhedra, at rest or while its wall is taken away.
static inline void make_solids(draft* d)
{
    const pile p = pile_of(d, grain_number(d, 4, d->dim == 2 ? 120 : 40));
    begin_world(d, 1.0);
    for (int k = whole(d, 1, 3); k > 0; k--) add_random_solid(d);
    const talus_wall_id right = add_container(d, &p);
    drop_pile(d, &p, 0.0);
    settle(d);
    if (chance(d, 0.4)) {
        remove_wall(d, right);
        run(d, d->h, whole(d, 0, 20));
    }
}

/// Rods, ten times as long as thick.
static inline void make_rods(draft* d)
{
    const pile p = pile_of(d, grain_number(d, 4, d->dim == 2 ? 120 : 40));
    begin_world(d, 1.0);
    add_box(d, 0.99, 0.1, 0.1);
    add_container(d, &p);
    drop_pile(d, &p, 0.0);
    settle(d);
}

/// Layers of bricks that a force or a driven wall pushes, so that they slide over each other.
static inline void make_bricks(draft* d)
{
    const int rows = whole(d, 1, 6), columns = whole(d, 1, d->dim == 2 ? 6 : 3);
    const double wide = between(d, 0.8, 2.0), slope = chance(d, 0.5) ? between(d, 0.0, 0.8) : 0.0;
    begin_world(d, 1.0);
    add_box(d, wide, 1.0, 1.0);
    add_floor(d);
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < columns; i++) {
            talus_grain_def def =
                ball_at(d, 1.0, ball_mass(d, 1.0), wide * (0.5 + i + 0.5 * (j % 2)), 0.5 + j);
            def.solid.index = 0;
            add_grain_def(d, &def);
        }
    }
    set_gravity(d, sin(slope), -cos(slope));
    if (chance(d, 0.5)) {
        talus_wall_def wall = plane_at(d, "ram", 0.0, 0.0, 1.0, 0.0);
        wall.drive.kind = TALUS_DRIVE_VELOCITY;
        wall.drive.velocity[0] = log_between(d, 0.01, 10.0);
        add_wall(d, &wall);
    } else {
        load_grain(d, whole(d, 0, rows * columns - 1), log_between(d, 0.1, 1e3), 0.0);
    }
    run(d, d->h, whole(d, 0, 5));
}

// ---- laws --------------------------------------------------------------------------------------

/// A pile with rolling and torsion friction, of every kind.
static inline void make_rolling(draft* d)
{
    d->law.rolling_kind = (talus_rolling_kind)whole(d, 0, 2);
    d->law.rolling = log_between(d, 1e-3, 0.5);
    if (chance(d, 0.6)) d->law.torsion = log_between(d, 1e-3, 0.5);
    const pile p = pile_of(d, grain_number(d, 8, 120));
    const talus_wall_id right = settled_pile(d, &p);
    if (chance(d, 0.5)) {
        remove_wall(d, right);
        run(d, d->h, whole(d, 0, 30));
    }
}

/// Grains that bounce off a pile and each other.
static inline void make_bounce(draft* d)
{
    d->law.restitution = between(d, 0.1, 1.0);
    if (chance(d, 0.4)) d->law.tangential_restitution = between(d, 0.0, d->law.restitution);
    const pile p = pile_of(d, grain_number(d, 8, 250));
    begin_world(d, 1.0);
    add_container(d, &p);
    drop_pile(d, &p, 0.0);
    run(d, 0.05, whole(d, 25, 70));
    talus_editable_grains edit;
    talus_error error = {0};
    claim_ok(talus_world_edit_grains(d->world, &edit, &error), error.text);
    const double speed = log_between(d, 0.1, 10.0);
    for (int64_t i = 0; i < edit.count * d->dim; i++) {
        edit.velocity[i] += speed * between(d, -1.0, 1.0);
    }
}

/// A pile with a static friction above the dynamic one, pushed by a wall.
static inline void make_two_frictions(draft* d)
{
    d->law.friction = between(d, 0.2, 1.5);
    d->law.dynamic_friction = d->law.friction * between(d, 0.1, 0.9);
    make_push(d);
}

/// Any of the above without friction.
static inline void make_smooth(draft* d)
{
    static void (*const made[])(draft*) = {make_lid,    make_push,   make_masses, make_collapse,
                                           make_solids, make_wedge,  make_sizes,  make_kick,
                                           make_far,    make_lattice};
    d->law.friction = 0.0;
    made[whole(d, 0, (int)(sizeof made / sizeof *made) - 1)](d);
}

/// Everything at once: shapes, masses, a lid, bonds, rolling, two frictions, rebound.
static inline void make_mixed(draft* d)
{
    if (chance(d, 0.4)) d->law.rolling = log_between(d, 1e-3, 0.3);
    if (chance(d, 0.4)) d->law.torsion = log_between(d, 1e-3, 0.3);
    if (chance(d, 0.3)) d->law.cohesion_force = log_between(d, 0.1, 100.0);
    if (chance(d, 0.3)) d->law.restitution = between(d, 0.0, 1.0);
    if (chance(d, 0.3)) d->law.dynamic_friction = 0.5 * d->law.friction;
    d->law.cohesion_energy = 0.03 * d->law.cohesion_force;
    pile p = pile_of(d, grain_number(d, 6, d->dim == 2 ? 100 : 40));
    p.masses = log_between(d, 1.0, 1e6);
    p.order = MASS_RANDOM;
    begin_world(d, 1.0);
    if (chance(d, 0.5)) add_random_solid(d);
    add_container(d, &p);
    drop_pile(d, &p, 0.0);
    settle(d);
    if (chance(d, 0.5)) add_lid(d, log_between(d, 1e-3, 1e3), log_between(d, 0.1, 1e3));
    const int64_t count = grains_of(d).count;
    for (int k = whole(d, 0, 3); k > 0; k--) {
        load_grain(d, (int64_t)rng_below(&d->r, (uint64_t)count), 30.0 * between(d, -1.0, 1.0),
                   30.0 * between(d, -1.0, 1.0));
    }
}

// ---- all of them -------------------------------------------------------------------------------

typedef struct claim_kind {
    const char* name;
    void (*make)(draft* d);
} claim_kind;

static const claim_kind CLAIM_KINDS[] = {
    {"beam", make_beam},
    {"frame", make_frame},
    {"bonds", make_bonds},
    {"tower", make_tower},
    {"arch", make_arch},
    {"wedge", make_wedge},
    {"lattice", make_lattice},
    {"masses", make_masses},
    {"far", make_far},
    {"sizes", make_sizes},
    {"lid", make_lid},
    {"push", make_push},
    {"kick", make_kick},
    {"collapse", make_collapse},
    {"dam", make_dam},
    {"drum", make_drum},
    {"hopper", make_hopper},
    {"shear", make_shear},
    {"solids", make_solids},
    {"rods", make_rods},
    {"bricks", make_bricks},
    {"rolling", make_rolling},
    {"bounce", make_bounce},
    {"two-frictions", make_two_frictions},
    {"smooth", make_smooth},
    {"mixed", make_mixed},
    {"clump", make_clump},
    {"rollers", make_rollers},
    {"groove", make_groove},
    {"ferry", make_ferry},
    {"jack", make_jack},
    {"masonry", make_masonry},
    {"thin", make_thin},
    {"conveyor", make_conveyor},
    {"slot", make_slot},
    {"cell", make_cell},
    {"heavy-end", make_heavy_end},
    {"impacts", make_impacts},
    {"patchwork", make_patchwork},
    {"film", make_film},
    {"uneven-beam", make_uneven_beam},
    {"towers", make_towers},
    {"sandwich", make_sandwich},
    {"train", make_train},
    {"portal", make_portal},
    {"vault", make_vault},
    {"scree", make_scree},
    {"press", make_press},
    {"boulder", make_boulder},
    {"hanging", make_hanging},
    {"tree", make_tree},
};
enum { CLAIM_KIND_COUNT = sizeof CLAIM_KINDS / sizeof *CLAIM_KINDS };

/// The world of a kind and a seed; the step's length is in the draft. Grains never exceed `most`.
static inline draft claim_draw(int kind, uint64_t seed, int64_t most)
{
    draft d = {.r = rng_make(seed, 0x636c61696d, (uint64_t)kind), .most = most};
    d.dim = chance(&d, 0.6) ? 2 : 3;
    d.h = log_between(&d, 3e-3, 0.1);
    d.law = talus_pair_default();
    d.law.friction = chance(&d, 0.1) ? 0.0 : between(&d, 0.05, chance(&d, 0.2) ? 1.5 : 0.7);
    CLAIM_KINDS[kind].make(&d);
    return d;
}

#endif
