/// Random numbers for experiments: splitmix64, whose whole state is one integer, the seed.
#ifndef TALUS_PAPER_RANDOM_H
#define TALUS_PAPER_RANDOM_H

#include <stdint.h>

/// Uniform in [0, 1) with 53 bits; advances *state.
static inline double random_unit(uint64_t* state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

/// Uniform in [low, high).
static inline double random_between(uint64_t* state, double low, double high)
{
    return low + (high - low) * random_unit(state);
}

#endif
