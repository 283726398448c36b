/// Eight contacts whose geometry is known through the law (soft/law_kernel.h), as many at once as
/// the file that includes this is compiled for.
#ifndef TALUS_SOFT_MEET_KERNEL_H
#define TALUS_SOFT_MEET_KERNEL_H

#include "soft/law_kernel.h"

static ALWAYS_INLINE lane_mask mask_of_bytes(const uint8_t* bytes)
{
    _Alignas(64) double flag[LANE_WIDTH];
    for (int k = 0; k < LANE_WIDTH; k++) flag[k] = bytes[k];
    return lanes_more(lanes_load(flag), lanes_set(0.5));
}

static ALWAYS_INLINE void mask_to_bytes(lane_mask mask, uint8_t* bytes)
{
    const unsigned bits = mask_bits(mask);
    for (int k = 0; k < LANE_WIDTH; k++) bytes[k] = (uint8_t)(bits >> k & 1U);
}

static ALWAYS_INLINE void load_fields(const int count, const double from[][SOFT_LANES], int at,
                                      lanes* to)
{
    for (int i = 0; i < count; i++) to[i] = lanes_load(from[i] + at);
}

static ALWAYS_INLINE void store_fields(const int count, const lanes* from, int at,
                                       double to[][SOFT_LANES])
{
    for (int i = 0; i < count; i++) lanes_store(to[i] + at, from[i]);
}

static ALWAYS_INLINE void meet(const int dim, const bool hertz, const bool total,
                               const bool compound, const double* constants, double h,
                               soft_meetings* m)
{
    const int axial = spin_width(dim);
    for (int at = 0; at < SOFT_LANES; at += LANE_WIDTH) {
        lanes c[SOFT_CONSTANTS];
        law_in in;
        law_history history = {0};
        law_out out = {0};
        load_constants(compound, constants, m->law + at, c);
        in.overlap = lanes_load(m->overlap + at);
        in.root_mass = lanes_sqrt(lanes_set(1.0) / lanes_load(m->inv_mass + at));
        if (dim == 3) in.twist = lanes_load(m->twist + at);
        in.curvature = lanes_set(1.0);
        if (hertz || compound) in.curvature = lanes_load(m->curvature + at);
        in.touching = lanes_more(in.overlap, lanes_set(0.0));
        in.touched = mask_of_bytes(m->touched + at);
        load_fields(dim, m->normal, at, in.n);
        load_fields(dim, m->last_normal, at, in.last_n);
        load_fields(dim, m->velocity, at, in.velocity);
        load_fields(dim, m->moved, at, in.moved);
        load_fields(axial, m->slip, at, history.slip);
        if (compound) {
            load_fields(axial, m->spin, at, in.spin);
            load_fields(axial, m->turned, at, in.turned);
            load_fields(axial, m->roll, at, history.roll);
            history.bonded = mask_of_bytes(m->bonded + at);
            history.slid = mask_of_bytes(m->slid + at);
        }

        soft_law(dim, hertz, total, compound, c, h, &in, &history, &out);

        store_fields(axial, history.slip, at, m->slip);
        store_fields(dim, out.force, at, m->force);
        lanes_store(m->elastic + at, out.elastic);
        lanes_store(m->loss + at, out.loss);
        lanes_store(m->power + at, out.power);
        const unsigned active = mask_bits(out.active), sliding = mask_bits(out.sliding);
        for (int k = 0; k < LANE_WIDTH; k++) {
            const talus_contact_state state = sliding >> k & 1U  ? TALUS_CONTACT_SLIDE
                                              : active >> k & 1U ? TALUS_CONTACT_STICK
                                                                 : TALUS_CONTACT_OPEN;
            m->state[at + k] = (uint8_t)state;
        }
        if (compound) {
            store_fields(axial, history.roll, at, m->roll);
            store_fields(axial, out.torque, at, m->torque);
            mask_to_bytes(history.bonded, m->bonded + at);
            mask_to_bytes(history.slid, m->slid + at);
        }
    }
}

static void meet_any(const soft_kind* kind, const double* constants, double h, soft_meetings* m)
{
    const bool hertz = kind->law == TALUS_SOFT_HERTZ;
    if (kind->dim == 2) {
        meet(2, hertz, kind->total, kind->compound, constants, h, m);
    } else {
        meet(3, hertz, kind->total, kind->compound, constants, h, m);
    }
}

#endif
