/// The linear systems of Newton's and the interior point method, with or without bodies.
///
///   B_c x_c + A_c (W x)_c = b_c      at every contact c, with blocks A_c and B_c [width][width]
///
/// Without bodies that is one matrix over the contacts, B + A W. Where the bodies are known, W = J
/// J^T, it is solved over them:
///     z = J^T x,      (1 + J^T B^-1 A J) z = J^T B^-1 b,      x = B^-1 (b - A J z)
/// A pile of cubes has six times as many contacts as bodies and more, and they are far more
/// coupled.
#ifndef TALUS_RIGID_REDUCED_SYSTEM_H
#define TALUS_RIGID_REDUCED_SYSTEM_H

#include "rigid/reduced/methods.h"

typedef struct reduced_system reduced_system;

/// NULL when memory is short.
reduced_system* reduced_system_new(const reduced_work* work);
void reduced_system_free(reduced_system* s);
/// About how many sweeps take the time of one factorisation.
double reduced_system_in_sweeps(const reduced_system* s);
/// Writes A_c and B_c [width][width].
typedef void reduced_system_blocks(const void* data, int64_t c, double* A, double* B);
/// Factorise; false if that cannot be done.
bool reduced_system_make(reduced_system* s, reduced_system_blocks* blocks, const void* data);
/// x [count][width]: b in, solution out. So many times it is improved by what it leaves, and with
/// bodies once more.
void reduced_system_solve(reduced_system* s, int improve, double* x);
/// Are the bodies known? Then a step costs little.
bool reduced_system_has_bodies(const reduced_system* s);

#endif
