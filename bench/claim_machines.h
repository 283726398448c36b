/// More kinds of contact problems for bench/claim: small mechanisms, and what machines do to
/// grains. They were made after the constants of the certificate had been fitted, to break it.
#ifndef TALUS_BENCH_CLAIM_MACHINES_H
#define TALUS_BENCH_CLAIM_MACHINES_H

#include "claim_build.h"

/// Friction up to 2, also none.
static inline void any_friction(draft* d)
{
    d->law.friction = chance(d, 0.15) ? 0.0 : between(d, 0.02, chance(d, 0.5) ? 0.6 : 2.0);
}

/// A wall that moves with a given velocity.
static inline void drive_wall(talus_wall_def* wall, double x, double up, int dim)
{
    wall->drive.kind = TALUS_DRIVE_VELOCITY;
    wall->drive.velocity[0] = x;
    wall->drive.velocity[dim - 1] = up;
}

static inline void set_velocities(draft* d, double speed)
{
    talus_editable_grains edit;
    talus_error error = {0};
    claim_ok(talus_world_edit_grains(d->world, &edit, &error), error.text);
    for (int64_t i = 0; i < edit.count * d->dim; i++) {
        edit.velocity[i] += speed * between(d, -1.0, 1.0);
    }
}

// ---- small mechanisms --------------------------------------------------------------------------

/// A few balls of any size and mass, each laid against an earlier one or on the floor, some into
/// each other: rollers, wedges, toggles. Heavy ones roll on light ones, or are held by them.
static inline void make_clump(draft* d)
{
    const int count = grain_number(d, 2, 9);
    const double masses = chance(d, 0.3) ? 1.0 : log_between(d, 10.0, 1e9);
    const double sizes = log_between(d, 1.01, 30.0), speed = log_between(d, 1e-4, 1.0);
    double x[16], up[16], radius[16];
    any_friction(d);
    begin_world(d, 1.0);
    add_floor(d);
    if (chance(d, 0.3)) add_plane(d, "side", -2.0, 0.0, 1.0, 0.0);
    for (int i = 0; i < count; i++) {
        radius[i] = 0.5 * log_between(d, 1.0 / sizes, 1.0);
        x[i] = between(d, -1.0, 1.0), up[i] = radius[i];
        const int on = i > 0 && chance(d, 0.7) ? whole(d, 0, i - 1) : -1;
        const double apart = on >= 0 ? radius[i] + radius[on] : 0.0, angle = between(d, -1.5, 1.5);
        if (on >= 0 && chance(d, 0.4)) { // on the floor, at the side of it
            const double rise = radius[i] - radius[on];
            x[i] = x[on] + sqrt(apart * apart - rise * rise);
        } else if (on >= 0) {
            x[i] = x[on] + apart * sin(angle), up[i] = up[on] + apart * cos(angle);
            up[i] = fmax(up[i], radius[i]);
        }
        talus_grain_def def = ball_at(d, 2.0 * radius[i], log_between(d, 1.0, masses), x[i], up[i]);
        for (int k = 0; k < d->dim; k++) def.velocity[k] = speed * between(d, -1.0, 1.0);
        for (int k = 0; k < 3; k++) def.spin[k] = speed * between(d, -1.0, 1.0) / radius[i];
        if (d->dim == 3 && chance(d, 0.7)) def.position[1] = between(d, -0.3, 0.3) * radius[i];
        add_grain_def(d, &def);
    }
    if (chance(d, 0.5)) run(d, d->h, whole(d, 1, 20));
}

/// A heavy slab on rollers of nearly one size on a slope; each of them may be a little too small.
static inline void make_rollers(draft* d)
{
    const int count = whole(d, 2, 8);
    const double slope = between(d, 0.0, 0.5), uneven = log_between(d, 1e-7, 1e-2);
    any_friction(d);
    begin_world(d, 0.0);
    add_floor(d);
    add_box(d, 1.2 * count, 2.0, 0.5);
    for (int i = 0; i < count; i++) {
        const double size = 1.0 - uneven * rng_uniform(&d->r);
        talus_grain_def def =
            ball_at(d, size, log_between(d, 1e-4, 10.0), 1.2 * (i + 0.5), 0.5 * size);
        if (d->dim == 3) def.position[1] = between(d, -0.8, 0.8);
        add_grain_def(d, &def);
    }
    talus_grain_def slab = ball_at(d, 1.0, log_between(d, 1.0, 1e6), 0.6 * count, 1.25);
    slab.solid.index = 0;
    slab.velocity[0] = chance(d, 0.5) ? log_between(d, 1e-3, 1.0) : 0.0;
    const int64_t top = add_grain_def(d, &slab);
    if (chance(d, 0.3)) load_grain(d, top, log_between(d, 0.1, 1e3), 0.0);
    set_gravity(d, sin(slope), -cos(slope));
}

/// Balls in a V-shaped groove whose walls close, or run along themselves like belts.
static inline void make_groove(draft* d)
{
    const double half_angle = log_between(d, 0.05, 1.2), speed = log_between(d, 1e-3, 3.0);
    const int count = grain_number(d, 1, 40);
    any_friction(d);
    begin_world(d, 1.0);
    const double nx = cos(half_angle), nup = sin(half_angle);
    const bool belts = chance(d, 0.6);
    const double heavy = log_between(d, 1.0, 1e6);
    for (int side = -1; side <= 1; side += 2) {
        talus_wall_def wall = plane_at(d, side < 0 ? "left" : "right", 0.0, 0.0, -side * nx, nup);
        const double along = speed * between(d, -1.0, 1.0);
        if (belts) drive_wall(&wall, side * nup * along, nx * along, d->dim);
        if (!belts && side > 0) drive_wall(&wall, -speed, 0.0, d->dim);
        add_wall(d, &wall);
    }
    double up = 0.5 / nup;
    for (int i = 0; i < count; i++) {
        const double size = between(d, 0.5, 1.0);
        up = fmax(up, 0.5 * size / nup);
        add_ball(d, size, ball_mass(d, size) * log_between(d, 1.0, heavy), between(d, -0.1, 0.1),
                 up);
        up += 0.9;
    }
    run(d, 0.03, whole(d, 0, 60));
}

/// One heavy ball on a row of light ones, on a floor that moves.
static inline void make_ferry(draft* d)
{
    const int count = grain_number(d, 2, 40);
    const double light = log_between(d, 1e-6, 1.0), large = between(d, 1.0, 6.0);
    any_friction(d);
    if (chance(d, 0.3)) d->law.rolling = log_between(d, 1e-3, 0.3);
    begin_world(d, 1.0);
    talus_wall_def belt = plane_at(d, "belt", 0.0, 0.0, 0.0, 1.0);
    drive_wall(&belt, log_between(d, 1e-3, 3.0), 0.0, d->dim);
    add_wall(d, &belt);
    for (int i = 0; i < count; i++) {
        const double size = 1.0 - 1e-3 * rng_uniform(&d->r);
        add_ball(d, size, light, i, 0.5 * size);
    }
    const double at = between(d, 0.0, count - 1.0), beside = at - floor(at);
    const double near = fmin(beside, 1.0 - beside), reach = 0.5 * (large + 1.0);
    add_ball(d, large, 1.0, at, 0.5 + sqrt(fmax(reach * reach - near * near, 0.0)));
    if (chance(d, 0.5)) run(d, d->h, whole(d, 1, 10));
}

/// A wedge that a mobile wall drives under a lid.
static inline void make_jack(draft* d)
{
    const double angle = between(d, 0.03, 0.9), length = 3.0;
    const int rows = whole(d, 1, 3);
    any_friction(d);
    begin_world(d, 1.0);
    add_floor(d);
    const double rise = length * tan(angle);
    const double flat[6] = {0.0, 0.0, length, 0.0, 0.0, rise};
    double points[18];
    for (int i = 0; i < 3 * d->dim && d->dim == 2; i++) points[i] = flat[i];
    for (int i = 0; i < 6 && d->dim == 3; i++) {
        points[3 * i] = flat[2 * (i % 3)], points[3 * i + 1] = i / 3 - 0.5;
        points[3 * i + 2] = flat[2 * (i % 3) + 1];
    }
    add_solid(d, points, d->dim == 2 ? 3 : 6);
    double up = 0.0;
    for (int i = 0; i < rows; i++) {
        talus_grain_def def =
            ball_at(d, 1.0, log_between(d, 0.1, 100.0), length / 3.0, up + rise / 3.0);
        def.solid.index = 0;
        if (i % 2) { // the same wedge upside down closes the pair
            def.rotation[d->dim == 2 ? 2 : 1] = CLAIM_PI;
            def.position[0] = 2.0 * length / 3.0, def.position[d->dim - 1] = up + 2.0 * rise / 3.0;
            up += rise;
        }
        add_grain_def(d, &def);
    }
    talus_wall_def ram = plane_at(d, "ram", 0.0, 0.0, 1.0, 0.0);
    ram.drive.kind = TALUS_DRIVE_FORCE;
    ram.drive.mass = log_between(d, 1e-3, 1e3);
    ram.drive.free_axes[0] = true;
    ram.drive.force[0] = log_between(d, 0.1, 1e4);
    add_wall(d, &ram);
    add_lid(d, log_between(d, 1e-3, 1e3), log_between(d, 0.1, 1e3));
    run(d, 0.01, whole(d, 0, 4));
}

// ---- walls and shapes --------------------------------------------------------------------------

/// Cubes in layers between side walls, one of which presses: a wall of masonry, perhaps with holes.
static inline void make_masonry(draft* d)
{
    const int rows = whole(d, 1, 4), columns = whole(d, 2, d->dim == 2 ? 8 : 4);
    const double missing = between(d, 0.0, 0.3), press = log_between(d, 0.1, 1e4);
    const bool ground = chance(d, 0.4);
    any_friction(d);
    begin_world(d, 1.0);
    add_box(d, 1.0, 1.0, 1.0);
    if (ground) add_floor(d);
    add_plane(d, "left", 0.0, 0.0, 1.0, 0.0);
    for (int i = 0; i < rows * columns; i++) {
        if (rows > 1 && chance(d, missing)) continue;
        talus_grain_def def = ball_at(d, 1.0, log_between(d, 0.5, 2.0), i % columns + 0.5,
                                      i / columns + 0.5 + 1e-3 * rng_uniform(&d->r));
        def.solid.index = 0;
        if (d->dim == 3) def.position[1] = between(d, -0.1, 0.1);
        add_grain_def(d, &def);
    }
    talus_wall_def right = plane_at(d, "right", columns, 0.0, -1.0, 0.0);
    right.drive.kind = TALUS_DRIVE_FORCE;
    right.drive.mass = log_between(d, 1e-2, 1e3);
    right.drive.free_axes[0] = true;
    right.drive.force[0] = -press;
    add_wall(d, &right);
    run(d, d->h, whole(d, 0, 3));
}

/// Plates and needles, up to fifty times as long as thick, lying on each other.
static inline void make_thin(draft* d)
{
    const int count = whole(d, 1, 12);
    const double thick = log_between(d, 0.02, 0.2), turned = chance(d, 0.5) ? 0.05 : 1.0;
    any_friction(d);
    begin_world(d, 1.0);
    add_box(d, 1.0, chance(d, 0.5) ? 1.0 : thick, thick);
    add_floor(d);
    for (int i = 0; i < count; i++) {
        talus_grain_def def =
            ball_at(d, 1.0, 0.5 * log_between(d, 1.0, 100.0), between(d, -0.4, 0.4),
                    (i + 0.5) * thick * (turned < 1.0 ? 1.2 : 3.0) + 0.3);
        def.solid.index = 0;
        for (int k = d->dim == 2 ? 2 : 0; k < 3; k++)
            def.rotation[k] = turned * between(d, -1.0, 1.0);
        add_grain_def(d, &def);
    }
    run(d, 0.03, whole(d, 15, 80));
    if (chance(d, 0.5)) load_grain(d, 0, log_between(d, 0.1, 100.0), 0.0);
}

/// A pile on a belt between side walls that stand; static and dynamic friction.
static inline void make_conveyor(draft* d)
{
    const pile p = pile_of(d, grain_number(d, 4, 120));
    any_friction(d);
    if (chance(d, 0.6)) d->law.dynamic_friction = d->law.friction * between(d, 0.1, 0.9);
    begin_world(d, 1.0);
    if (chance(d, 0.3)) add_random_solid(d);
    const talus_wall_id right = add_container(d, &p);
    drop_pile(d, &p, 0.0);
    settle(d);
    talus_drive_def belt = talus_drive_default();
    talus_error error = {0};
    belt.kind = TALUS_DRIVE_VELOCITY;
    belt.velocity[0] = log_between(d, 1e-4, 3.0);
    claim_ok(
        talus_world_set_drive(d->world, talus_world_find_wall(d->world, "floor"), &belt, &error),
        error.text);
    if (chance(d, 0.3)) remove_wall(d, right);
    run(d, d->h, whole(d, 0, 20));
}

/// A long chain in a slot little wider than its balls, pressed at the end.
static inline void make_slot(draft* d)
{
    const int count = grain_number(d, 3, 200);
    const double wide = between(d, 1.0001, 1.5), push = log_between(d, 0.1, 1e4);
    const double zigzag = wide - 1.0, step = sqrt(fmax(1.0 - zigzag * zigzag, 0.0));
    any_friction(d);
    begin_world(d, chance(d, 0.5) ? 1.0 : 0.0);
    add_plane(d, "left", 0.0, 0.0, 1.0, 0.0);
    add_plane(d, "right", wide, 0.0, -1.0, 0.0);
    if (chance(d, 0.6)) add_floor(d);
    int64_t top = 0;
    for (int i = 0; i < count; i++) {
        top = add_ball(d, 1.0, ball_mass(d, 1.0) * log_between(d, 1.0, 3.0),
                       i % 2 ? 0.5 + zigzag : 0.5, 0.5 + i * step);
    }
    load_grain(d, top, 0.0, -push);
    if (chance(d, 0.3)) run(d, d->h, 1);
}

/// Grains without walls, in a cell that is periodic along all axes, squeezed or sheared.
static inline void make_cell(draft* d)
{
    pile p = pile_of(d, grain_number(d, 9, 200));
    any_friction(d);
    p.wide = p.wide < 3 ? 3 : p.wide;
    const int deep = d->dim == 3 ? p.wide : 1, layers = p.count / (p.wide * deep);
    const double wide = pile_width(&p), high = 1.08 * fmax(layers + 1, 3);
    const double around[3] = {wide, d->dim == 3 ? wide : high, high};
    begin_periodic(d, 0.0, around);
    drop_pile(d, &p, 0.0);
    const double speed = log_between(d, 0.1, 3.0), turning = between(d, 0.0, 1.0);
    talus_editable_grains edit;
    talus_error error = {0};
    claim_ok(talus_world_edit_grains(d->world, &edit, &error), error.text);
    for (int64_t i = 0; i < edit.count; i++) {
        double *v = edit.velocity + i * d->dim, *x = edit.position + i * d->dim;
        v[0] -= speed * (x[0] / wide - 0.5) + turning * speed * (x[d->dim - 1] / high - 0.5);
        v[d->dim - 1] -= speed * (x[d->dim - 1] / high - 0.5);
    }
    set_velocities(d, 0.2 * speed);
    run(d, 0.02, whole(d, 3, 40));
}

// ---- loads and laws ----------------------------------------------------------------------------

/// A bonded row that sticks out, with a heavy body at its end and rolling friction.
static inline void make_heavy_end(draft* d)
{
    const int count = grain_number(d, 2, d->dim == 2 ? 100 : 40);
    const double heavy = log_between(d, 1.0, 1e6), angle = between(d, -0.5, 0.5);
    d->law.rolling = log_between(d, 0.005, 0.5);
    d->law.torsion = d->law.rolling;
    d->law.cohesion_force = heavy * count * log_between(d, 0.1, 1e3);
    d->law.cohesion_energy = 0.01 * d->law.cohesion_force;
    begin_world(d, 0.0);
    for (int i = 0; i < count; i++) {
        talus_grain_def def = ball_at(d, 1.0, i == count - 1 ? heavy : ball_mass(d, 1.0),
                                      i * cos(angle), i * sin(angle));
        def.fixed = i == 0;
        if (i == count - 1 && chance(d, 0.3)) def.velocity[0] = log_between(d, 1e-3, 1.0);
        add_grain_def(d, &def);
    }
    bond(d);
    set_gravity(d, 0.0, -1.0);
}

/// Balls at rest in rows that touch, into which others fly: many impacts at one moment.
static inline void make_impacts(draft* d)
{
    const int columns = grain_number(d, 2, d->dim == 2 ? 14 : 8), rows = whole(d, 1, 6);
    const int bullets = whole(d, 1, columns);
    const double speed = log_between(d, 0.1, 30.0), masses = log_between(d, 1.0, 1e3);
    any_friction(d);
    d->law.restitution = chance(d, 0.3) ? 1.0 : between(d, 0.0, 1.0);
    if (chance(d, 0.3)) d->law.tangential_restitution = between(d, 0.0, d->law.restitution);
    begin_world(d, chance(d, 0.5) ? 1.0 : 0.0);
    add_floor(d);
    for (int i = 0; i < rows * columns + bullets; i++) {
        const int row = i / columns;
        const bool flies = i >= rows * columns;
        const double up = 0.5 + sqrt(0.75) * row;
        talus_grain_def def =
            ball_at(d, 1.0, log_between(d, 1.0, masses), i % columns + 0.5 * (row % 2), up);
        if (flies) def.velocity[0] = 0.3 * speed * between(d, -1.0, 1.0);
        if (flies) def.velocity[d->dim - 1] = -speed * between(d, 0.3, 1.0);
        add_grain_def(d, &def);
    }
}

/// Grains without friction among rough ones, and walls of either kind.
static inline void make_patchwork(draft* d)
{
    pile p = pile_of(d, grain_number(d, 5, 150));
    talus_pair_def smooth = talus_pair_default();
    talus_error error = {0};
    talus_material_id ice;
    p.spread = log_between(d, 1.02, 5.0);
    d->law.friction = between(d, 0.5, 2.0);
    smooth.friction = chance(d, 0.5) ? 0.0 : 1e-3;
    begin_world(d, 1.0);
    claim_ok(talus_world_add_material(d->world, "ice", &smooth, &ice, &error), error.text);
    const talus_wall_id right = add_container(d, &p);
    drop_pile(d, &p, 0.0);
    for (int k = 0; k < 3; k++) {
        talus_grain_def def =
            ball_at(d, 1.0, 0.5, between(d, 0.5, pile_width(&p) - 0.5), top_of(d) + 0.6 + k);
        def.material = ice;
        if (d->dim == 3) def.position[1] = between(d, 0.5, pile_width(&p) - 0.5);
        add_grain_def(d, &def);
    }
    settle(d);
    if (chance(d, 0.5)) remove_wall(d, right);
    run(d, d->h, whole(d, 0, 20));
}

/// A layer that sticks together by weak bonds without moments, between a floor that moves and a lid
/// that is pulled up or pressed down.
static inline void make_film(draft* d)
{
    pile p = pile_of(d, grain_number(d, 6, 120));
    p.wide = p.wide < 4 ? 4 : p.wide;
    const double around[3] = {pile_width(&p), d->dim == 3 ? pile_width(&p) : 0.0, 0.0};
    any_friction(d);
    d->law.cohesion_force = log_between(d, 1e-3, 30.0);
    d->law.cohesion_energy = log_between(d, 1e-3, 1.0) * d->law.cohesion_force;
    begin_periodic(d, 1.0, around);
    talus_wall_def belt = plane_at(d, "belt", 0.0, 0.0, 0.0, 1.0);
    drive_wall(&belt, log_between(d, 1e-3, 3.0), 0.0, d->dim);
    add_wall(d, &belt);
    drop_pile(d, &p, 0.0);
    settle(d);
    add_lid(d, mass_of(d) * log_between(d, 1e-3, 1e2), mass_of(d) * between(d, -3.0, 10.0));
    run(d, 0.02, whole(d, 0, 10));
}

#endif
