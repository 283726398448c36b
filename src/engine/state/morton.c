/// Keys of the Z curve: the bits of a cell's coordinates, interleaved.
#include "state/morton.h"

#include "base/parallel.h"

#include <math.h>

/// Put a zero after each of 16 bits.
static uint32_t spread_by_two(uint32_t x)
{
    x = (x | x << 8) & 0x00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0fu;
    x = (x | x << 2) & 0x33333333u;
    return (x | x << 1) & 0x55555555u;
}

/// Put two zeros after each of 10 bits.
static uint32_t spread_by_three(uint32_t x)
{
    x = (x | x << 16) & 0x030000ffu;
    x = (x | x << 8) & 0x0300f00fu;
    x = (x | x << 4) & 0x030c30c3u;
    return (x | x << 2) & 0x09249249u;
}

uint32_t morton_key(int dim, const uint32_t* at)
{
    if (dim == 2) return spread_by_two(at[0]) | spread_by_two(at[1]) << 1;
    return spread_by_three(at[0]) | spread_by_three(at[1]) << 1 | spread_by_three(at[2]) << 2;
}

uint32_t morton_axis(int dim)
{
    return dim == 2 ? 0x55555555u : 0x09249249u;
}

uint32_t morton_coordinate(int dim, uint32_t key)
{
    key &= morton_axis(dim);
    if (dim == 2) {
        key = (key | key >> 1) & 0x33333333u;
        key = (key | key >> 2) & 0x0f0f0f0fu;
        key = (key | key >> 4) & 0x00ff00ffu;
        return (key | key >> 8) & 0x0000ffffu;
    }
    key = (key | key >> 2) & 0x030c30c3u;
    key = (key | key >> 4) & 0x0300f00fu;
    key = (key | key >> 8) & 0x030000ffu;
    return (key | key >> 16) & 0x000003ffu;
}

double morton_keys(const grains* g, int threads, uint32_t* key)
{
    const int dim = g->dim;
    const uint32_t cells = dim == 2 ? 1u << 15 : 1u << 10;
    const double diameter = grains_mean_diameter(g, threads);
    double low[3], high[3], width = diameter;
    grains_box(g, threads, low, high);
    for (int k = 0; k < dim; k++) width = fmax(width, (high[k] - low[k]) / cells);
#pragma omp parallel for num_threads(parallel_threads(threads, g->count)) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        uint32_t at[3] = {0, 0, 0};
        for (int k = 0; k < dim; k++) {
            // Rounding may put the last grain just beyond the last cell.
            const double cell = (g->position[i * dim + k] - low[k]) / width;
            at[k] = cell < cells ? (uint32_t)cell : cells - 1;
        }
        key[i] = morton_key(dim, at);
    }
    return diameter > 0.0 ? width / diameter : 1.0;
}
