/// A step's contact problem without its bodies.
///
/// The velocity at contact c is a sum over its two bodies s, u_c = sum_s J_cs V_s with J_cs = +-F
/// (1 G_s): F has the contact's normal and tangents as rows, G_s is the lever arm that turns the
/// body's rotational unknown into velocity (for balls G_a w = w x n and G_b w = n x w). An impulse
/// r_d changes V_s by M_s^-1 J_ds^T r_d, so that W_cd = sum over the bodies that both contacts have
/// of J_cs M_s^-1 J_ds^T. Bodies that do not move have no part in it.
#include "rigid/reduced/condense.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/// Columns of J: velocity and rotational unknown of a body.
enum { J_WIDTH = 6 };

typedef struct builder {
    const problem* p;
    reduced_problem* out;
    double* J;      ///< [count][2][dim][J_WIDTH] of both bodies
    int64_t* first; ///< [rows + 1] first touch of each body
    int32_t* touch; ///< [first[rows]] contact * 2 + side, contacts ascending
    int64_t* place; ///< [count] block of a column in the row at hand
} builder;

static double* jacobian(const builder* b, int64_t c, int side)
{
    return b->J + (2 * c + side) * b->p->dim * J_WIDTH;
}

static void fill_jacobian(const builder* b, int64_t c, const double frame[3][3])
{
    const int dim = b->p->dim, spin_dim = spin_width(dim);
    for (int side = 0; side < 2; side++) {
        const double *n = b->p->contact + c * problem_width(dim), sign = side == 0 ? -1.0 : 1.0;
        double arm[9], *J = jacobian(b, c, side); // the lever arm is [dim][spin_dim]
        if (problem_block_of(b->p, c) >= 0) {
            const double* block = problem_block(b->p, dim, c);
            memcpy(arm, block + (side == 0 ? block_arm_a(dim) : block_arm_b(dim)),
                   sizeof(double) * (size_t)(dim * spin_dim));
        } else if (dim == 2) {
            arm[0] = sign * n[1];
            arm[1] = -sign * n[0];
        } else { // n x w
            const double cross[9] = {0.0, -n[2], n[1], n[2], 0.0, -n[0], -n[1], n[0], 0.0};
            for (int k = 0; k < 9; k++) arm[k] = sign * cross[k];
        }
        for (int i = 0; i < dim; i++) {
            double* row = J + i * J_WIDTH;
            for (int k = 0; k < dim; k++) row[k] = sign * frame[i][k];
            for (int k = 0; k < spin_dim; k++) {
                double sum = 0.0;
                for (int j = 0; j < dim; j++) sum += frame[i][j] * arm[j * spin_dim + k];
                row[dim + k] = sign * sum;
            }
        }
    }
}

/// q, mu, the guess and J of all contacts.
static void fill_contacts(const builder* b, double* guess)
{
    const problem* p = b->p;
    const int dim = p->dim, stride = problem_stride(dim);
    for (int64_t c = 0; c < p->count; c++) {
        const double* row = p->contact + c * problem_width(dim);
        const double* body_a = p->free + (int64_t)p->pair[2 * c] * stride;
        const double* body_b = p->free + (int64_t)p->pair[2 * c + 1] * stride;
        double frame[3][3], u[3];
        vec_frame(dim, row, frame);
        fill_jacobian(b, c, frame);
        if (problem_block_of(p, c) < 0) {
            contact_velocity(dim, body_a, body_b, row, u);
        } else {
            block_velocity(dim, problem_block(p, dim, c), body_a, body_b, u);
        }
        for (int i = 0; i < dim; i++) {
            b->out->q[c * dim + i] = vec_dot(dim, frame[i], u);
            guess[c * dim + i] = vec_dot(dim, frame[i], row + contact_p(dim));
        }
        b->out->q[c * dim] += row[contact_bias(dim)];
        b->out->mu[c] = row[contact_mu(dim)];
    }
}

/// Columns of row c in ascending order to `column`, which may be NULL; returns how many.
static int64_t list_columns(const builder* b, int64_t c, int32_t* column)
{
    const int32_t* pair = b->p->pair + 2 * c;
    int64_t i = b->first[pair[0]], j = b->first[pair[1]], count = 0;
    const int64_t i_end = b->first[pair[0] + 1], j_end = b->first[pair[1] + 1];
    bool own = false;
    int32_t last = -1;
    while (i < i_end || j < j_end) {
        bool from_i = j >= j_end || (i < i_end && b->touch[i] < b->touch[j]);
        int32_t next = (from_i ? b->touch[i++] : b->touch[j++]) / 2;
        if (next == last) continue;
        last = next;
        own = own || next == c;
        if (column) column[count] = next;
        count++;
    }
    if (own) return count;
    if (column) column[count] = (int32_t)c; // neither body moves
    return count + 1;
}

/// block += J_c M^-1 J_d^T for a body both have
static void add_response(const builder* b, int32_t row, const double* Jc, const double* Jd,
                         double* block)
{
    const problem* p = b->p;
    const int dim = p->dim, width = dim + spin_width(dim);
    const double* body = p->free + (int64_t)row * problem_stride(dim);
    const int64_t wall = problem_mobile_wall(p, row);
    for (int i = 0; i < dim; i++) {
        double z[J_WIDTH]; // row i of J_c M^-1
        for (int k = 0; k < width; k++) {
            z[k] = Jc[i * J_WIDTH + k] * body[k < dim ? row_im(dim) : row_kim(dim)];
        }
        if (wall >= 0) {
            const double* mobility = p->mobility + wall * dim * dim;
            for (int k = 0; k < dim; k++)
                z[k] += vec_dot(dim, mobility + k * dim, Jc + i * J_WIDTH);
        }
        for (int j = 0; j < dim; j++) block[i * dim + j] += vec_dot(width, z, Jd + j * J_WIDTH);
    }
}

static bool fill_matrix(builder* b)
{
    const problem* p = b->p;
    reduced_problem* out = b->out;
    // Which contacts each body has that moves.
    memset(b->first, 0, sizeof *b->first * (size_t)(p->rows + 1));
    for (int64_t k = 0; k < 2 * p->count; k++) {
        if (problem_row_moves(p, p->pair[k])) b->first[p->pair[k] + 1]++;
    }
    for (int64_t row = 0; row < p->rows; row++) b->first[row + 1] += b->first[row];
    const int64_t all = b->first[p->rows];
    for (int64_t k = 2 * p->count - 1; k >= 0; k--) { // from behind: the ends become the beginnings
        if (problem_row_moves(p, p->pair[k])) b->touch[--b->first[p->pair[k] + 1]] = (int32_t)k;
    }
    memmove(b->first, b->first + 1, sizeof *b->first * (size_t)p->rows);
    b->first[p->rows] = all;
    out->first[0] = 0;
    for (int64_t c = 0; c < out->count; c++) {
        out->first[c + 1] = out->first[c] + list_columns(b, c, NULL);
    }
    const size_t blocks = (size_t)out->first[out->count] + 1;
    out->column = malloc(sizeof *out->column * blocks);
    out->block = malloc(sizeof(double) * blocks * (size_t)(out->width * out->width));
    if (!out->column || !out->block) return false;
    const int size = p->dim * p->dim;
    memset(out->block, 0, sizeof(double) * (size_t)(out->first[out->count] * size));
    for (int64_t c = 0; c < out->count; c++) {
        list_columns(b, c, out->column + out->first[c]);
        for (int64_t k = out->first[c]; k < out->first[c + 1]; k++) b->place[out->column[k]] = k;
        for (int side = 0; side < 2; side++) {
            const int32_t row = p->pair[2 * c + side];
            for (int64_t t = b->first[row]; t < b->first[row + 1]; t++) {
                const int64_t d = b->touch[t] / 2;
                add_response(b, row, jacobian(b, c, side), jacobian(b, d, b->touch[t] % 2),
                             out->block + b->place[d] * size);
            }
        }
    }
    return true;
}

talus_status reduced_from_problem(const problem* p, reduced_problem* out, double** guess,
                                  talus_error* error)
{
    for (int64_t c = 0; c < p->count; c++) {
        if (problem_compound_of(p, c) < 0) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "contact %lld has more than friction (rolling, torsion, cohesion, rebound "
                         "or static friction), which a problem without bodies cannot hold",
                         (long long)c);
    }
    *out = (reduced_problem){.width = p->dim, .count = p->count};
    builder b = {.p = p, .out = out};
    *guess = malloc(sizeof(double) * (size_t)(p->count * p->dim + 1));
    const size_t count = (size_t)p->count + 1; // never zero
    b.J = malloc(sizeof(double) * count * (size_t)(2 * p->dim * J_WIDTH));
    b.first = malloc(sizeof *b.first * (size_t)(p->rows + 1));
    b.touch = malloc(sizeof *b.touch * 2 * count);
    b.place = malloc(sizeof *b.place * count);
    out->first = malloc(sizeof *out->first * count);
    out->q = malloc(sizeof(double) * count * (size_t)p->dim);
    out->mu = malloc(sizeof(double) * count);
    bool good = b.J && b.first && b.touch && b.place && out->first && out->q && out->mu && *guess;
    if (good) {
        fill_contacts(&b, *guess);
        good = fill_matrix(&b);
    }
    free(b.J);
    free(b.first);
    free(b.touch);
    free(b.place);
    if (good) return TALUS_OK;
    reduced_free(out);
    free(*guess);
    *guess = NULL;
    return error_memory(error, "taking the bodies out of a contact problem");
}

/// The rows J of a contact to the side of its body `row`, times the root of its mobility.
static void fill_body(const builder* b, int64_t c, int side, double* out)
{
    const int dim = b->p->dim, width = dim + spin_width(dim);
    const double* J = jacobian(b, c, side);
    double root[J_WIDTH * J_WIDTH];
    problem_root(b->p, b->p->pair[2 * c + side], root);
    for (int i = 0; i < dim; i++) {
        for (int k = 0; k < width; k++) {
            double sum = 0.0;
            for (int j = 0; j < width; j++) sum += J[i * J_WIDTH + j] * root[j * width + k];
            out[(2 * i + side) * width + k] = sum;
        }
    }
}

talus_status reduced_add_bodies(const problem* p, reduced_problem* out, talus_error* error)
{
    const int dim = p->dim, width = dim + spin_width(dim);
    const size_t count = (size_t)p->count + 1, numbers = count * (size_t)(2 * dim);
    builder b = {.p = p, .out = out};
    int32_t* number = malloc(sizeof *number * (size_t)(p->rows + 1));
    b.J = malloc(sizeof(double) * numbers * J_WIDTH);
    out->bodies = (reduced_bodies){.width = width};
    out->bodies.of = malloc(sizeof *out->bodies.of * 2 * count);
    out->bodies.J = calloc(numbers * (size_t)width, sizeof(double));
    const bool good = number && b.J && out->bodies.of && out->bodies.J;
    for (int64_t row = 0; row < p->rows && good; row++) {
        number[row] = problem_row_moves(p, row) ? (int32_t)out->bodies.count++ : -1;
    }
    for (int64_t c = 0; c < p->count && good; c++) {
        double frame[3][3];
        vec_frame(dim, p->contact + c * problem_width(dim), frame);
        fill_jacobian(&b, c, frame);
        for (int side = 0; side < 2; side++) {
            const int32_t body = number[p->pair[2 * c + side]];
            out->bodies.of[2 * c + side] = body;
            if (body >= 0) fill_body(&b, c, side, out->bodies.J + c * 2 * dim * width);
        }
    }
    free(number);
    free(b.J);
    return good ? TALUS_OK : error_memory(error, "keeping the bodies of a contact problem");
}

void reduced_to_problem(const double* r, problem* p)
{
    const int dim = p->dim;
    for (int64_t c = 0; c < p->count; c++) {
        double* row = p->contact + c * problem_width(dim);
        double frame[3][3], *impulse = row + contact_p(dim);
        vec_frame(dim, row, frame);
        for (int k = 0; k < dim; k++) {
            impulse[k] = 0.0;
            for (int i = 0; i < dim; i++) impulse[k] += frame[i][k] * r[c * dim + i];
        }
    }
    problem_refresh(p);
}
