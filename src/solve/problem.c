/// Memory of a contact problem, and velocities from impulses.
#include "solve/problem.h"

#include <stdlib.h>
#include <string.h>

void problem_free(problem* p)
{
    free(p->body);
    free(p->free);
    free(p->pair);
    free(p->contact);
    free(p->block);
    free(p->law);
    free(p->blocks);
    *p = (problem){0};
}

/// Grow without keeping the contents: a problem is built anew every step.
static bool regrow(void** array, size_t bytes)
{
    free(*array);
    *array = aligned_alloc(64, (bytes + 63) / 64 * 64);
    return *array != NULL;
}

static talus_status reserve_rows(problem* p, int64_t rows)
{
    if (rows <= p->row_capacity) return TALUS_OK;
    int64_t grown = rows + rows / 4 + 16;
    size_t bytes = sizeof(double) * (size_t)(grown * problem_stride(p->dim));
    p->row_capacity = 0;
    if (!regrow((void**)&p->body, bytes) || !regrow((void**)&p->free, bytes)) {
        return TALUS_ERR_MEMORY;
    }
    p->row_capacity = grown;
    return TALUS_OK;
}

static talus_status reserve_contacts(problem* p, int64_t contacts)
{
    if (contacts <= p->contact_capacity) return TALUS_OK;
    int64_t grown = contacts + contacts / 4 + 16;
    p->contact_capacity = 0;
    if (!regrow((void**)&p->contact, sizeof(double) * (size_t)(grown * problem_width(p->dim))) ||
        !regrow((void**)&p->pair, sizeof(int32_t) * 2 * (size_t)grown) ||
        !regrow((void**)&p->block, sizeof(int32_t) * (size_t)grown) ||
        !regrow((void**)&p->law, (size_t)grown)) {
        return TALUS_ERR_MEMORY;
    }
    p->contact_capacity = grown;
    return TALUS_OK;
}

static talus_status reserve_blocks(problem* p, int64_t blocks)
{
    if (blocks <= p->block_capacity) return TALUS_OK;
    int64_t grown = blocks + blocks / 4 + 16;
    p->block_capacity = 0;
    if (!regrow((void**)&p->blocks, sizeof(double) * (size_t)(grown * 2 * p->dim * p->dim))) {
        return TALUS_ERR_MEMORY;
    }
    p->block_capacity = grown;
    return TALUS_OK;
}

talus_status problem_reset(problem* p, int dim, int64_t rows, int64_t contacts, int64_t blocks)
{
    p->dim = dim;
    p->rows = p->count = p->block_count = 0;
    if (reserve_rows(p, rows) || reserve_contacts(p, contacts) || reserve_blocks(p, blocks)) {
        return TALUS_ERR_MEMORY;
    }
    if (contacts > 0) memset(p->law, 0, (size_t)contacts);
    return TALUS_OK;
}

static ALWAYS_INLINE void refresh(problem* p, const int dim)
{
    const int stride = problem_stride(dim), width = problem_width(dim);
    if (p->rows > 0) memcpy(p->body, p->free, sizeof(double) * (size_t)(p->rows * stride));
    for (int64_t c = 0; c < p->count; c++) {
        const double* row = p->contact + c * width;
        double* a = p->body + (int64_t)p->pair[2 * c] * stride;
        double* b = p->body + (int64_t)p->pair[2 * c + 1] * stride;
        contact_apply(dim, a, b, row, row + contact_p(dim));
        if (p->block[c] >= 0) {
            const double* mobility = p->blocks + ((int64_t)p->block[c] * 2 + 1) * dim * dim;
            wall_apply(dim, a, mobility, row + contact_p(dim));
        }
    }
}

void problem_refresh(problem* p)
{
    if (p->dim == 2) {
        refresh(p, 2);
    } else {
        refresh(p, 3);
    }
}

int64_t problem_bytes(const problem* p)
{
    int64_t row = 2 * (int64_t)sizeof(double) * problem_stride(p->dim);
    int64_t indices = 3 * (int64_t)sizeof(int32_t) + 1;
    int64_t contact = (int64_t)sizeof(double) * problem_width(p->dim) + indices;
    int64_t block = 2 * (int64_t)sizeof(double) * p->dim * p->dim;
    return p->row_capacity * row + p->contact_capacity * contact + p->block_capacity * block;
}
