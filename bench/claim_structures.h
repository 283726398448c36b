/// Kinds of contact problems for bench/claim that were made last, after all constants and the
/// witnesses: structures of unequal parts, and grains between bodies that move.
#ifndef TALUS_BENCH_CLAIM_STRUCTURES_H
#define TALUS_BENCH_CLAIM_STRUCTURES_H

#include "claim_machines.h"

/// A bonded row of balls of unequal sizes and masses, held at one end or at both; some are pushed,
/// some pulled.
static inline void make_uneven_beam(draft* d)
{
    const int count = grain_number(d, 3, d->dim == 2 ? 120 : 50);
    const double masses = log_between(d, 1.0, 1e6), sizes = log_between(d, 1.0, 8.0);
    const bool both = chance(d, 0.4);
    const double angle = between(d, -1.6, 1.6);
    bonded_law(d, 0.1 * count * masses);
    begin_world(d, 0.0);
    double at = 0.0, last = 0.0;
    for (int i = 0; i < count; i++) {
        const double size = log_between(d, 1.0 / sizes, 1.0);
        at += i > 0 ? 0.5 * (last + size) : 0.0;
        last = size;
        talus_grain_def def =
            ball_at(d, size, log_between(d, 1.0, masses), at * cos(angle), at * sin(angle));
        def.fixed = i == 0 || (both && i == count - 1);
        const int64_t id = add_grain_def(d, &def);
        if (!def.fixed && chance(d, 0.1)) {
            load_grain(d, id, masses * between(d, -1.0, 1.0), masses * between(d, -1.0, 1.0));
        }
    }
    bond(d);
    set_gravity(d, 0.0, chance(d, 0.7) ? -1.0 : 0.0);
}

/// A tree of bonded balls that grows out of a fixed one and branches at random, with masses of its
/// own.
static inline void make_tree(draft* d)
{
    enum { MOST = 200 };
    const int count = grain_number(d, 5, d->dim == 2 ? MOST : 100);
    const double masses = chance(d, 0.5) ? 1.0 : log_between(d, 1.0, 1e6);
    double place[MOST][3] = {{0.0}};
    bonded_law(d, 0.1 * count * masses);
    begin_world(d, 0.0);
    for (int i = 0, tries = 0; i < count; tries++) {
        const int few = 5 + tries / 20,
                  on = i > 0 ? i - 1 - whole(d, 0, (i < few ? i : few) - 1) : 0;
        double way[3] = {0.0, 0.0, 0.0}, apart[3];
        for (int k = 0; k < d->dim && i > 0; k++) way[k] = between(d, -1.0, 1.0);
        const double length = vec_norm(3, way);
        for (int k = 0; k < 3 && i > 0; k++) place[i][k] = place[on][k] + way[k] / length;
        bool clear = i == 0 || (length > 0.1 && length <= 1.0);
        for (int j = 0; j < i && clear; j++) {
            vec_sub(3, apart, place[j], place[i]);
            clear = j == on || vec_norm(3, apart) > 1.02;
        }
        if (!clear) continue;
        talus_grain_def def = ball_at(d, 1.0, log_between(d, 1.0, masses), 0.0, 0.0);
        vec_copy(3, def.position, place[i]);
        def.fixed = i == 0;
        add_grain_def(d, &def);
        i++, tries = 0;
    }
    bond(d);
    set_gravity(d, 0.0, -1.0);
}

/// Towers of balls or bricks side by side, each touching the next, with masses of their own.
static inline void make_towers(draft* d)
{
    const bool bricks = chance(d, 0.5);
    const int towers = whole(d, 2, 5), high = grain_number(d, 2, d->dim == 2 ? 40 : 15);
    const double masses = log_between(d, 1.0, 1e9), gap = chance(d, 0.5) ? 0.0 : 1e-3;
    any_friction(d);
    begin_world(d, 1.0);
    add_floor(d);
    if (bricks) add_box(d, 1.0, 1.0, 1.0);
    for (int t = 0; t < towers; t++) {
        const double mass = log_between(d, 1.0, masses);
        int64_t top = 0;
        for (int i = 0; i < high; i++) {
            talus_grain_def def = ball_at(d, 1.0, mass, t * (1.0 + gap), i + 0.5);
            if (bricks) def.solid.index = 0;
            top = add_grain_def(d, &def);
        }
        if (chance(d, 0.5)) load_grain(d, top, mass * between(d, -1.0, 1.0), -mass);
    }
    if (chance(d, 0.3)) run(d, d->h, whole(d, 1, 5));
}

/// Rods or balls between two heavy slabs, of which the upper one is pushed along.
static inline void make_sandwich(draft* d)
{
    const int count = whole(d, 2, 12);
    const double length = between(d, 1.0, 3.0), wide = count * (length + 0.05);
    any_friction(d);
    if (chance(d, 0.3)) d->law.rolling = between(d, 0.01, 0.2);
    begin_world(d, 1.0);
    add_floor(d);
    add_box(d, wide, 3.0, 1.0);
    add_box(d, length, 0.3, 0.3);
    for (int layer = 0; layer < 2; layer++) {
        const double up = 1.3 * layer;
        talus_grain_def slab = ball_at(d, 1.0, log_between(d, 1.0, 1e6), 0.5 * wide, up + 0.5);
        slab.solid.index = 0;
        const int64_t id = add_grain_def(d, &slab);
        if (layer == 1) load_grain(d, id, log_between(d, 0.01, 1e6), -log_between(d, 0.1, 1e6));
    }
    for (int i = 0; i < count; i++) {
        talus_grain_def def =
            ball_at(d, 0.3, log_between(d, 1e-3, 10.0), (i + 0.5) * wide / count, 1.15);
        if (chance(d, 0.7)) def.solid.index = 1;
        if (d->dim == 3) def.position[1] = between(d, -1.0, 1.0);
        add_grain_def(d, &def);
    }
    if (chance(d, 0.3)) run(d, d->h, whole(d, 1, 10));
}

/// A very long chain of balls on a rough floor, straight or in zigzag, pushed at one end or at
/// both.
static inline void make_train(draft* d)
{
    const int count = grain_number(d, 5, 500);
    const double zigzag = chance(d, 0.5) ? between(d, 0.0, 0.3) : 0.0;
    const double push = log_between(d, 0.1, 1e4), masses = log_between(d, 1.0, 1e3);
    any_friction(d);
    begin_world(d, chance(d, 0.7) ? 1.0 : 0.0);
    add_floor(d);
    if (zigzag > 0.0) add_plane(d, "ceiling", 0.0, 1.0 + zigzag, 0.0, -1.0);
    int64_t last = 0;
    for (int i = 0; i < count; i++) {
        last = add_ball(d, 1.0, log_between(d, 1.0, masses), i * sqrt(1.0 - zigzag * zigzag),
                        0.5 + (i % 2 ? zigzag : 0.0));
        if (i == 0) load_grain(d, last, push, 0.0);
    }
    if (chance(d, 0.5)) load_grain(d, last, -push * between(d, 0.1, 1.5), 0.0);
    if (chance(d, 0.5)) {
        add_plane(d, "stop", (count - 1) * sqrt(1.0 - zigzag * zigzag) + 0.5, 0.0, -1.0, 0.0);
    }
}

/// A bonded portal: columns that stand on fixed balls, and a beam or a floor on top of them, pushed
/// aside.
static inline void make_portal(draft* d)
{
    const int high = whole(d, 2, 12), span = whole(d, 2, 10), deep = d->dim == 3 ? span : 0;
    const double sideways = log_between(d, 0.01, 100.0);
    bonded_law(d, 2.0 * (high + span));
    begin_world(d, 0.0);
    for (int i = 0; i <= span; i++) {
        for (int j = 0; j <= deep; j++) {
            for (int k = 0; k <= high; k++) {
                const bool corner = (i == 0 || i == span) && (j == 0 || j == deep);
                const bool edge = i == 0 || i == span || j == 0 || j == deep;
                if (!corner && !(k == high && edge)) continue;
                talus_grain_def def = ball_at(d, 1.0, ball_mass(d, 1.0), i, k);
                if (d->dim == 3) def.position[1] = j;
                def.fixed = k == 0;
                const int64_t id = add_grain_def(d, &def);
                if (k == high && chance(d, 0.2)) load_grain(d, id, sideways, 0.0);
            }
        }
    }
    bond(d);
    set_gravity(d, 0.0, -1.0);
}

/// Balls in an arc between two fixed ones under a lid that presses on the highest, or several.
static inline void make_vault(draft* d)
{
    const int count = grain_number(d, 3, 60);
    const double opening = between(d, 0.4, 1.4), step = 2.0 * opening / count;
    const double radius = 0.5 / sin(0.5 * step);
    any_friction(d);
    begin_world(d, 1.0);
    for (int i = 0; i < count; i++) {
        const double angle = -opening + (i + 0.5) * step;
        talus_grain_def def = ball_at(d, 1.0, log_between(d, 1.0, chance(d, 0.2) ? 1e4 : 2.0),
                                      radius * sin(angle), radius * cos(angle));
        def.fixed = i == 0 || i == count - 1;
        add_grain_def(d, &def);
    }
    add_lid(d, log_between(d, 0.1, 1e6), log_between(d, 0.1, 1e4));
    if (chance(d, 0.4)) run(d, d->h, whole(d, 1, 10));
}

/// Polygons or polyhedra with rolling friction, some of them bonded, that slide down a belt.
static inline void make_scree(draft* d)
{
    const double slope = between(d, 0.0, 0.9), speed = between(d, -2.0, 2.0);
    any_friction(d);
    d->law.rolling = log_between(d, 0.005, 0.3);
    if (chance(d, 0.4)) d->law.cohesion_force = log_between(d, 0.01, 10.0);
    d->law.cohesion_energy = 0.05 * d->law.cohesion_force;
    begin_world(d, 1.0);
    for (int k = whole(d, 1, 3); k > 0; k--) add_random_solid(d);
    talus_wall_def belt = plane_at(d, "belt", 0.0, 0.0, 0.0, 1.0);
    drive_wall(&belt, speed, 0.0, d->dim);
    add_wall(d, &belt);
    const pile p = pile_of(d, grain_number(d, 3, 60));
    drop_pile(d, &p, 0.0);
    run(d, 0.05, whole(d, 20, 60));
    set_gravity(d, sin(slope), -cos(slope));
    run(d, d->h, whole(d, 0, 10));
}

/// Grains between two mobile walls and a floor, one wall far heavier: they are squeezed out or hold
/// the walls apart.
static inline void make_press(draft* d)
{
    any_friction(d);
    const pile p = pile_of(d, grain_number(d, 2, 120));
    const double width = pile_width(&p);
    begin_world(d, 1.0);
    add_floor(d);
    for (int side = 0; side < 2; side++) {
        talus_wall_def wall =
            plane_at(d, side ? "right" : "left", side * width, 0.0, side ? -1.0 : 1.0, 0.0);
        wall.drive.kind = TALUS_DRIVE_FORCE;
        wall.drive.mass = log_between(d, 0.1, side ? 1e6 : 10.0);
        wall.drive.free_axes[0] = true;
        wall.drive.force[0] = (side ? -1.0 : 1.0) * log_between(d, 0.1, 300.0);
        add_wall(d, &wall);
    }
    drop_pile(d, &p, 0.0);
    run(d, 0.05, whole(d, 10, 80));
}

/// One large ball, up to twenty times as large as the others, rolls or drops onto them.
static inline void make_boulder(draft* d)
{
    const double size = log_between(d, 2.0, 20.0);
    any_friction(d);
    pile p = pile_of(d, grain_number(d, 5, 300));
    p.wide = (int)fmax(2.0, d->dim == 2 ? p.count / 3 : sqrt(p.count / 2.0));
    begin_world(d, 1.0);
    add_floor(d);
    drop_pile(d, &p, 0.0);
    run(d, 0.05, whole(d, 10, 40));
    talus_grain_def boulder = ball_at(d, size, ball_mass(d, size) * log_between(d, 0.1, 1e3),
                                      0.5 * pile_width(&p), top_of(d) + 0.5 * size);
    if (d->dim == 3) boulder.position[1] = 0.5 * pile_width(&p);
    boulder.velocity[0] = between(d, -1.0, 1.0);
    boulder.velocity[d->dim - 1] = -rng_uniform(&d->r);
    boulder.spin[d->dim == 2 ? 0 : 1] = between(d, -1.0, 1.0);
    add_grain_def(d, &boulder);
    run(d, 0.02, whole(d, 1, 40));
}

/// Chains of bonded balls that hang from a fixed one, with weights at their ends, pulled aside.
static inline void make_hanging(draft* d)
{
    const int chains = whole(d, 1, 4), count = grain_number(d, 3, 60);
    bonded_law(d, count);
    if (chance(d, 0.5)) d->law.rolling = d->law.torsion = 0.0;
    begin_world(d, 0.0);
    for (int c = 0; c < chains; c++) {
        const double lean = between(d, -0.5, 0.5);
        for (int i = 0; i < count; i++) {
            const bool weight = i == count - 1;
            talus_grain_def def =
                ball_at(d, 1.0, weight ? log_between(d, 1.0, 1e5) : ball_mass(d, 1.0),
                        2.5 * c + i * sin(lean), -i * cos(lean));
            def.fixed = i == 0;
            def.velocity[0] = weight ? between(d, -0.1, 0.1) : 0.0;
            add_grain_def(d, &def);
        }
    }
    bond(d);
    set_gravity(d, between(d, -0.2, 0.2), -1.0);
}

#endif
