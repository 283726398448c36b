/// The soft method's kernels for any machine; no special instructions.
#include "soft/ball_kernel.h"
#include "soft/meet_kernel.h"
#include "soft/sphere_kernel.h"

const soft_kernels soft_kernels_portable = {.name = "portable",
                                            .meet = meet_any,
                                            .balls = balls_of_block,
                                            .fill = fill_bodies,
                                            .accelerate = accelerate_rows,
                                            .turn = turn_rows,
                                            .lift = lift_spheres,
                                            .carry = carry_spheres,
                                            .land = land_spheres};
