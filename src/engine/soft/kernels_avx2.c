/// The soft method's kernels for AVX2; compiled with that instruction set (CMakeLists.txt).
#include "soft/ball_kernel.h"
#include "soft/meet_kernel.h"
#include "soft/sphere_kernel.h"

const soft_kernels soft_kernels_avx2 = {.name = "avx2",
                                        .meet = meet_any,
                                        .balls = balls_of_block,
                                        .fill = fill_bodies,
                                        .accelerate = accelerate_rows,
                                        .turn = turn_rows,
                                        .lift = lift_spheres,
                                        .carry = carry_spheres,
                                        .land = land_spheres};
