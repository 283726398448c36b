/// Copying part of a contact problem out and back.
#include "rigid/direct/extract.h"

#include <stdlib.h>
#include <string.h>

/// Give row `row` of the problem a row in the part, unless it has one.
static void take_row(const problem* p, int64_t row, int32_t* place, problem* out)
{
    const size_t bytes = sizeof(double) * (size_t)problem_stride(p->dim);
    if (place[row] >= 0) return;
    place[row] = (int32_t)out->rows;
    memcpy(out->free + out->rows * problem_stride(p->dim), p->free + row * problem_stride(p->dim),
           bytes);
    memcpy(out->body + out->rows * problem_stride(p->dim), p->body + row * problem_stride(p->dim),
           bytes);
    out->curve[out->rows++] = p->curve[row];
}

/// Rows that are no mobile walls, then those that are, in the order in which contacts meet them.
static void take_rows(const problem* p, const int64_t* number, int64_t count, int32_t* place,
                      problem* out)
{
    const int square = p->dim * p->dim;
    for (int64_t row = 0; row < p->rows; row++) place[row] = -1;
    for (int walls = 0; walls < 2; walls++) {
        if (walls) out->mobile_first = out->rows;
        for (int64_t k = 0; k < 2 * count; k++) {
            const int64_t row = p->pair[2 * number[k / 2] + k % 2];
            const int64_t wall = problem_mobile_wall(p, row);
            if ((wall >= 0) != (walls == 1) || place[row] >= 0) continue;
            if (walls) {
                memcpy(out->mobility + out->mobile_count++ * square, p->mobility + wall * square,
                       sizeof(double) * (size_t)square);
            }
            take_row(p, row, place, out);
        }
    }
}

talus_status problem_extract(const problem* p, const int64_t* number, int64_t count, problem* out)
{
    const int dim = p->dim, width = problem_width(dim);
    problem_size size = {.rows = 2 * count, .contacts = count, .mobile = p->mobile_count};
    for (int64_t i = 0; i < count; i++) {
        size.blocks += problem_block_of(p, number[i]) >= 0;
        size.compound += problem_compound_of(p, number[i]) >= 0;
    }
    int32_t* place = malloc(sizeof *place * (size_t)(p->rows + 1));
    if (!place || problem_reset(out, dim, &size)) {
        free(place);
        return TALUS_ERR_MEMORY;
    }
    take_rows(p, number, count, place, out);
    out->curve_cell = p->curve_cell;
    for (int64_t i = 0; i < count; i++) {
        const int64_t c = number[i];
        const int32_t compound = problem_compound_of(p, c);
        for (int side = 0; side < 2; side++) {
            out->pair[2 * i + side] = place[p->pair[2 * c + side]];
        }
        memcpy(out->contact + i * width, p->contact + c * width, sizeof(double) * (size_t)width);
        if (problem_block_of(p, c) >= 0) {
            out->block[i] = (int32_t)out->block_count++;
            memcpy(problem_block(out, dim, i), problem_block(p, dim, c),
                   sizeof(double) * (size_t)block_width(dim));
        }
        if (compound >= 0) {
            out->compound[i] = (int32_t)out->compound_count;
            out->compound_rows[out->compound_count] = p->compound_rows[compound];
            out->compound_turns[out->compound_count++] = p->compound_turns[compound];
        }
    }
    out->count = count;
    free(place);
    return TALUS_OK;
}

void problem_return(const problem* part, const int64_t* number, problem* p)
{
    const int dim = p->dim, width = problem_width(dim), stride = problem_stride(dim);
    for (int64_t i = 0; i < part->count; i++) {
        const int64_t c = number[i];
        memcpy(p->contact + c * width, part->contact + i * width, sizeof(double) * (size_t)width);
        const int32_t compound = problem_compound_of(p, c);
        if (compound >= 0) p->compound_rows[compound] = part->compound_rows[part->compound[i]];
        for (int side = 0; side < 2; side++) {
            memcpy(p->body + (int64_t)p->pair[2 * c + side] * stride,
                   part->body + (int64_t)part->pair[2 * i + side] * stride,
                   sizeof(double) * (size_t)stride);
        }
    }
}
