/// Random numbers that depend only on a key: no hidden state to save or to share between threads.
///
/// rng_make(seed, a, b) mixes the key with splitmix64 and starts a xoshiro256** stream
/// (Blackman & Vigna 2018). The same key gives the same stream on every machine.
#ifndef TALUS_BASE_RNG_H
#define TALUS_BASE_RNG_H

#include <stdint.h>

typedef struct rng {
    uint64_t s[4];
} rng;

static inline uint64_t rng_mix(uint64_t* state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// Stream for a key, for instance (seed, step, sweep).
static inline rng rng_make(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t state = seed;
    state = rng_mix(&state) ^ a;
    state = rng_mix(&state) ^ b;
    rng r;
    for (int i = 0; i < 4; i++) r.s[i] = rng_mix(&state);
    return r;
}

static inline uint64_t rng_next(rng* r)
{
    uint64_t product = r->s[1] * 5;
    uint64_t result = ((product << 7) | (product >> 57)) * 9;
    uint64_t t = r->s[1] << 17;
    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = (r->s[3] << 45) | (r->s[3] >> 19);
    return result;
}

/// Uniform in [0, 1) with 53 bits.
static inline double rng_uniform(rng* r)
{
    return (double)(rng_next(r) >> 11) * 0x1.0p-53;
}

/// Uniform integer in [0, bound) by Lemire's multiplication; the bias is below bound/2^64.
static inline uint64_t rng_below(rng* r, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)rng_next(r) * bound) >> 64);
}

/// Standard normal deviate (Box-Muller, one of the pair).
double rng_normal(rng* r);

#endif
