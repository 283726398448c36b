/// Union and find without locks (after Anderson & Woll, STOC 1991).
///
/// Joining two trees hooks the root with the higher number under that with the lower one, so every
/// root ends as the lowest number of its tree, whoever comes first: threads may join at the same
/// time in any order, and the result has the same bits.
#ifndef TALUS_BASE_FOREST_H
#define TALUS_BASE_FOREST_H

#include <stdbool.h>
#include <stdint.h>

static inline int32_t forest_parent(int32_t* parent, int32_t i)
{
    return __atomic_load_n(&parent[i], __ATOMIC_RELAXED);
}

static inline void forest_set_parent(int32_t* parent, int32_t i, int32_t to)
{
    __atomic_store_n(&parent[i], to, __ATOMIC_RELAXED);
}

/// Follow the parents up and halve the path. Whatever other threads do, parents are ancestors.
static inline int32_t forest_root(int32_t* parent, int32_t i)
{
    for (;;) {
        const int32_t up = forest_parent(parent, i);
        if (up == i) return i;
        const int32_t over = forest_parent(parent, up);
        if (over == up) return up;
        forest_set_parent(parent, i, over);
        i = over;
    }
}

static inline void forest_join(int32_t* parent, int32_t a, int32_t b)
{
    for (;;) {
        a = forest_root(parent, a);
        b = forest_root(parent, b);
        if (a == b) return;
        const int32_t low = a < b ? a : b, high = a < b ? b : a;
        int32_t root = high; // unless another thread hooked it in the meantime
        if (__atomic_compare_exchange_n(&parent[high], &root, low, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            return;
        }
    }
}

#endif
