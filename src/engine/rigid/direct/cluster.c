/// A cluster out of a problem and back, and the matrix over its bodies.
#include "rigid/direct/cluster.h"

#include <stdlib.h>
#include <string.h>

// ---- bodies ------------------------------------------------------------------------------------

/// Number the bodies that move in the order in which contacts meet them.
static talus_status number_bodies(const problem* p, direct_cluster* s)
{
    int32_t* body = malloc(sizeof *body * (size_t)(p->rows + 1));
    s->row = malloc(sizeof *s->row * (size_t)(2 * s->count + 1));
    if (!body || !s->row) {
        free(body);
        return TALUS_ERR_MEMORY;
    }
    for (int64_t row = 0; row < p->rows; row++) body[row] = -1;
    for (int64_t c = 0; c < s->count; c++) {
        for (int side = 0; side < 2; side++) {
            const int32_t row = p->pair[2 * c + side];
            if (body[row] < 0 && problem_row_moves(p, row)) {
                body[row] = (int32_t)s->bodies;
                s->row[s->bodies++] = row;
            }
            s->contact[c].body[side] = body[row];
        }
    }
    free(body);
    return TALUS_OK;
}

// ---- contacts ----------------------------------------------------------------------------------

/// A component under way: the row of J that acts on velocities and rotational unknowns, by side.
typedef struct direct_row {
    double J[2][MOST_FREEDOMS];
} direct_row;

/// The component of the relative velocity along `axis`.
static direct_row row_along(const problem* p, int64_t c, const double* axis)
{
    const int dim = p->dim, spin_dim = spin_width(dim);
    const double* n = p->contact + c * problem_width(dim);
    direct_row r = {0};
    for (int side = 0; side < 2; side++) {
        const double sign = side == 0 ? -1.0 : 1.0;
        for (int k = 0; k < dim; k++) r.J[side][k] = sign * axis[k];
        if (problem_block_of(p, c) >= 0) {
            const double* arm =
                problem_block(p, dim, c) + (side == 0 ? block_arm_a(dim) : block_arm_b(dim));
            for (int k = 0; k < spin_dim; k++) {
                for (int i = 0; i < dim; i++) {
                    r.J[side][dim + k] += sign * axis[i] * arm[i * spin_dim + k];
                }
            }
        } else if (dim == 2) { // u = v_b - v_a - (w_a + w_b) x n on both sides alike
            r.J[side][2] = axis[0] * n[1] - axis[1] * n[0];
        } else {
            double turned[3];
            vec_cross(turned, axis, n); // axis.(n x w) = w.(axis x n)
            vec_copy(3, r.J[side] + 3, turned);
        }
    }
    return r;
}

/// The component of the relative spin along `axis`, times `length`.
static direct_row row_about(const problem* p, int64_t c, const double* axis, double length)
{
    const int dim = p->dim, spin_dim = spin_width(dim);
    const compound_contact* q = &p->compound_rows[problem_compound_of(p, c)];
    const compound_turn* t = &p->compound_turns[problem_compound_of(p, c)];
    direct_row r = {0};
    for (int side = 0; side < 2; side++) {
        const double sign = (side == 0 ? -1.0 : 1.0) * length;
        const double* turn = side == 0 ? t->turn_a : t->turn_b;
        for (int k = 0; k < spin_dim; k++) {
            for (int i = 0; i < spin_dim && t->used; i++) {
                r.J[side][dim + k] += sign * axis[i] * turn[3 * i + k];
            }
            if (!t->used) {
                r.J[side][dim + k] =
                    sign * axis[k] * (side == 0 ? q->inv_radius_a : q->inv_radius_b);
            }
        }
    }
    return r;
}

/// Add a component with row r and the velocity `offset` beside that of the bodies.
static void add_component(const problem* p, direct_cluster* s, direct_contact* c,
                          const direct_row* r, double offset)
{
    const int dim = s->dim, width = s->width, stride = problem_stride(dim);
    const int64_t at = c->first + c->count++, number = c - s->contact;
    double w = offset;
    for (int side = 0; side < 2; side++) {
        const double* body = p->free + (int64_t)p->pair[2 * number + side] * stride;
        w += vec_dot(dim, r->J[side], body) +
             vec_dot(spin_width(dim), r->J[side] + dim, body + row_w(dim));
        double* J = s->J + (2 * at + side) * width;
        for (int k = 0; k < width; k++) {
            J[k] = 0.0;
            for (int i = 0; i < width && c->body[side] >= 0; i++) {
                const double* root = s->root + (int64_t)c->body[side] * width * width;
                J[k] += r->J[side][i] * root[i * width + k];
            }
        }
    }
    s->w_free[at] = w;
}

/// The torques of a compound contact, where something resists them and something can turn.
static void add_torques(const problem* p, direct_cluster* s, direct_contact* c,
                        const compound_contact* q, double frame[3][3])
{
    const int dim = s->dim;
    const double z[3] = {1.0, 0.0, 0.0};
    c->length = 1.0 / q->inv_radius_b;
    for (int part = ROLL; part <= TWIST; part++) {
        const rolling_bound* bound = part == ROLL ? &q->rolling : &q->torsion;
        if (!(bound->coefficient > 0.0) || (part == TWIST && dim == 2)) continue;
        c->part[part].first = c->count;
        for (int k = part == ROLL ? 1 : 0; k < (part == ROLL ? dim : 1); k++) {
            const double* axis = dim == 2 ? z : frame[k];
            const direct_row r = row_about(p, c - s->contact, axis, c->length);
            const double spin = vec_dot(spin_width(dim), axis, q->spin_a) * c->length;
            add_component(p, s, c, &r, -spin);
        }
        c->part[part].count = c->count - c->part[part].first;
    }
}

static void fill_contact(const problem* p, direct_cluster* s, direct_contact* c)
{
    const int dim = s->dim;
    const int64_t number = c - s->contact;
    const double* row = p->contact + number * problem_width(dim);
    const int32_t compound = problem_compound_of(p, number);
    const compound_contact* q = compound >= 0 ? &p->compound_rows[compound] : NULL;
    double frame[3][3];
    vec_frame(dim, row, frame);
    c->mu = row[contact_mu(dim)];
    c->bond = q ? q->bond : 0.0;
    const direct_row normal = row_along(p, number, frame[0]);
    add_component(p, s, c, &normal, row[contact_bias(dim)]);
    if (c->mu > 0.0) {
        c->part[SLIDE].first = c->count;
        for (int k = 1; k < dim; k++) {
            const direct_row r = row_along(p, number, frame[k]);
            add_component(p, s, c, &r, q ? vec_dot(dim, frame[k], q->slip) : 0.0);
        }
        c->part[SLIDE].count = dim - 1;
    }
    if (q) {
        c->h = q->h;
        c->rolling = q->rolling;
        c->torsion = q->torsion;
        add_torques(p, s, c, q, frame);
    }
    if (c->bond > 0.0) {
        c->part[HOLD] = (direct_part){c->count, 1};
        add_component(p, s, c, &normal, q->closing);
    }
}

/// 1/(J J^T) of each component, on average over a part. A part that nothing responds to, as the
/// torque at a wall of a body that does not turn, gets the mass of the push.
static void fill_masses(const direct_cluster* s, direct_contact* c)
{
    double response[MOST_COMPONENTS];
    for (int k = 0; k < c->count; k++) {
        const double* J = s->J + 2 * (c->first + k) * s->width;
        response[k] = vec_dot(2 * s->width, J, J);
    }
    c->mass[0] = response[0] > 0.0 ? 1.0 / response[0] : 0.0;
    for (int part = 0; part < BOUNDED; part++) {
        const direct_part* q = &c->part[part];
        double sum = 0.0;
        for (int k = 0; k < q->count; k++) sum += response[q->first + k];
        for (int k = 0; k < q->count; k++) {
            c->mass[q->first + k] = sum > 0.0 ? q->count / sum : c->mass[0];
        }
    }
}

// ---- matrix ------------------------------------------------------------------------------------

static int ascending(const void* a, const void* b)
{
    const int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
    return (x > y) - (x < y);
}

/// The pattern over bodies: the diagonal and a block each way for bodies that touch.
static bool fill_pattern(direct_cluster* s)
{
    const int64_t n = s->bodies;
    int64_t* key = malloc(sizeof *key * (size_t)(n + 2 * s->count + 1));
    int64_t keys = 0, blocks = 0;
    s->matrix = (reduced_problem){.width = s->width, .count = n};
    s->matrix.first = malloc(sizeof *s->matrix.first * (size_t)(n + 1));
    s->matrix.column = malloc(sizeof *s->matrix.column * (size_t)(n + 2 * s->count + 1));
    if (!key || !s->matrix.first || !s->matrix.column) {
        free(key);
        return false;
    }
    for (int64_t i = 0; i < n; i++) key[keys++] = i * n + i;
    for (int64_t c = 0; c < s->count; c++) {
        const int64_t a = s->contact[c].body[0], b = s->contact[c].body[1];
        if (a < 0 || b < 0 || a == b) continue;
        key[keys++] = a * n + b;
        key[keys++] = b * n + a;
    }
    qsort(key, (size_t)keys, sizeof *key, ascending);
    for (int64_t k = 0; k < keys; k++) {
        if (k == 0 || key[k] != key[k - 1]) key[blocks++] = key[k];
    }
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        s->matrix.first[i] = at;
        for (; at < blocks && key[at] / n == i; at++) s->matrix.column[at] = (int32_t)(key[at] % n);
    }
    s->matrix.first[n] = blocks;
    for (int64_t c = 0; c < s->count; c++) {
        for (int k = 0; k < 4; k++) {
            const int64_t i = s->contact[c].body[k / 2], j = s->contact[c].body[k % 2];
            const int64_t wanted = i * n + j;
            const int64_t* found =
                i < 0 || j < 0 ? NULL
                               : bsearch(&wanted, key, (size_t)blocks, sizeof *key, ascending);
            s->contact[c].place[k] = found ? found - key : -1;
        }
    }
    free(key);
    s->matrix.block = malloc(sizeof(double) * (size_t)(blocks * s->width * s->width + 1));
    return s->matrix.block != NULL;
}

/// block += Ja^T (D Jb) over the components of a contact.
static ALWAYS_INLINE void add_block(const int width, int count, const double* Ja, const double* DJ,
                                    double* block)
{
    for (int m = 0; m < count; m++) {
        for (int i = 0; i < width; i++) {
            const double a = Ja[2 * m * width + i];
            for (int k = 0; k < width; k++) block[i * width + k] += a * DJ[m * width + k];
        }
    }
}

static ALWAYS_INLINE void add_contact(const int width, const direct_cluster* s,
                                      const direct_contact* c, const double* D)
{
    const double* J = s->J + 2 * c->first * width;
    for (int side = 0; side < 2; side++) {
        if (c->body[side] < 0) continue;
        double DJ[MOST_COMPONENTS * MOST_FREEDOMS] = {0.0};
        for (int m = 0; m < c->count; m++) {
            for (int l = 0; l < c->count; l++) {
                const double d = D[m * c->count + l];
                if (d == 0.0) continue;
                vec_add_scaled(width, DJ + m * width, d, J + (2 * l + side) * width);
            }
        }
        for (int other = 0; other < 2; other++) {
            const int64_t place = c->place[2 * other + side];
            if (place < 0) continue;
            add_block(width, c->count, J + other * width, DJ,
                      s->matrix.block + place * width * width);
        }
    }
}

static void copy_row(const void* data, int64_t i, double* blocks)
{
    const reduced_problem* m = data;
    const int64_t square = m->width * m->width;
    memcpy(blocks, m->block + m->first[i] * square,
           sizeof(double) * (size_t)((m->first[i + 1] - m->first[i]) * square));
}

bool direct_factorise(direct_cluster* s, const double* D, bool symmetric)
{
    const int width = s->width, square = width * width;
    reduced_problem* m = &s->matrix;
    memset(m->block, 0, sizeof(double) * (size_t)(m->first[m->count] * square));
    for (int64_t i = 0; i < m->count; i++) {
        for (int64_t b = m->first[i]; b < m->first[i + 1]; b++) {
            if (m->column[b] != i) continue;
            for (int k = 0; k < width; k++) m->block[b * square + k * (width + 1)] = 1.0;
        }
    }
    for (int64_t c = 0; c < s->count; c++) {
        const double* of = D + s->contact[c].square;
        if (width == 3) {
            add_contact(3, s, &s->contact[c], of);
        } else {
            add_contact(6, s, &s->contact[c], of);
        }
    }
    s->factorisations++;
    return reduced_factor_make(s->factor, symmetric, copy_row, m);
}

double direct_products(const direct_cluster* s)
{
    return reduced_factor_products(s->factor);
}

// ---- out and back ------------------------------------------------------------------------------

void direct_cluster_free(direct_cluster* s)
{
    reduced_factor_free(s->factor);
    free(s->matrix.first);
    free(s->matrix.column);
    free(s->matrix.block);
    free(s->row);
    free(s->root);
    free(s->contact);
    free(s->J);
    *s = (direct_cluster){0};
}

/// Room for contacts of at most so many components.
static bool make_room(direct_cluster* s, int64_t count, int dim, int width, int most)
{
    *s = (direct_cluster){.dim = dim, .width = width, .count = count};
    s->contact = calloc((size_t)count + 1, sizeof *s->contact);
    s->J = malloc(sizeof(double) * (size_t)(count * most * (2 * width + 2) + 1));
    if (!s->contact || !s->J) return false;
    s->w_free = s->J + count * most * 2 * width;
    s->p = s->w_free + count * most;
    return true;
}

/// The components of contact c are there: go on to the next.
static void end_contact(direct_cluster* s, direct_contact* c)
{
    fill_masses(s, c);
    s->components += c->count;
    c->square = s->squares;
    s->squares += c->count * c->count;
}

static bool make_matrix(direct_cluster* s, bool avx2)
{
    if (!fill_pattern(s)) return false;
    s->factor = reduced_factor_new(&s->matrix, avx2);
    return s->factor != NULL;
}

talus_status direct_cluster_new(const problem* p, bool avx2, direct_cluster* s)
{
    const int dim = p->dim, most = dim == 2 ? 4 : MOST_COMPONENTS;
    bool good =
        make_room(s, p->count, dim, dim + spin_width(dim), most) && number_bodies(p, s) == TALUS_OK;
    if (good) {
        const int square = s->width * s->width;
        s->root = malloc(sizeof(double) * (size_t)(s->bodies * square + 1));
        good = s->root != NULL;
        for (int64_t i = 0; i < s->bodies && good; i++) {
            problem_root(p, s->row[i], s->root + i * square);
        }
    }
    if (good) {
        for (int64_t c = 0; c < s->count; c++) {
            s->contact[c].first = s->components;
            fill_contact(p, s, &s->contact[c]);
            end_contact(s, &s->contact[c]);
        }
        direct_read(s, p, s->p);
        good = make_matrix(s, avx2);
    }
    if (good) return TALUS_OK;
    direct_cluster_free(s);
    return TALUS_ERR_MEMORY;
}

talus_status direct_cluster_of_reduced(const reduced_problem* p, bool avx2, direct_cluster* s)
{
    const reduced_bodies* bodies = &p->bodies;
    const int w = p->width, width = bodies->width;
    int32_t* number = malloc(sizeof *number * (size_t)(bodies->count + 1));
    bool good = make_room(s, p->count, w, width, w) && number;
    for (int64_t b = 0; b < bodies->count && good; b++) number[b] = -1;
    for (int64_t i = 0; i < s->count && good; i++) {
        direct_contact* c = &s->contact[i];
        for (int side = 0; side < 2; side++) {
            const int32_t body = bodies->of[2 * i + side];
            if (body >= 0 && number[body] < 0) number[body] = (int32_t)s->bodies++;
            c->body[side] = body < 0 ? -1 : number[body];
        }
        c->first = s->components;
        c->mu = p->mu[i];
        c->count = w;
        c->part[SLIDE] = (direct_part){1, w - 1};
        memcpy(s->J + 2 * c->first * width, bodies->J + 2 * i * w * width,
               sizeof(double) * (size_t)(2 * c->count * width));
        vec_copy(c->count, s->w_free + c->first, p->q + i * w);
        end_contact(s, c);
    }
    free(number);
    if (good && make_matrix(s, avx2)) return TALUS_OK;
    direct_cluster_free(s);
    return TALUS_ERR_MEMORY;
}

void direct_read(const direct_cluster* s, const problem* p, double* q)
{
    const int dim = s->dim, spin_dim = spin_width(dim);
    const double z[3] = {1.0, 0.0, 0.0};
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const double* row = p->contact + i * problem_width(dim);
        const double* impulse = row + contact_p(dim);
        const int32_t compound = problem_compound_of(p, i);
        double frame[3][3], *of = q + c->first;
        vec_frame(dim, row, frame);
        const double pn = vec_dot(dim, frame[0], impulse);
        of[0] = fmax(pn, 0.0);
        if (c->part[HOLD].count) of[c->part[HOLD].first] = fmin(pn, 0.0);
        for (int k = 0; k < c->part[SLIDE].count; k++) {
            of[c->part[SLIDE].first + k] = vec_dot(dim, frame[k + 1], impulse);
        }
        const double* torque = compound >= 0 ? p->compound_rows[compound].torque : z;
        for (int k = 0; k < c->part[ROLL].count; k++) {
            of[c->part[ROLL].first + k] =
                vec_dot(spin_dim, torque, dim == 2 ? z : frame[k + 1]) / c->length;
        }
        if (c->part[TWIST].count) {
            of[c->part[TWIST].first] = vec_dot(3, torque, frame[0]) / c->length;
        }
    }
}

void direct_put_back(const direct_cluster* s, const double* q, problem* p)
{
    const int dim = s->dim, spin_dim = spin_width(dim);
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        double* row = p->contact + i * problem_width(dim);
        double frame[3][3], *impulse = row + contact_p(dim);
        const double *of = q + c->first, z[3] = {1.0, 0.0, 0.0};
        const double hold = c->part[HOLD].count ? of[c->part[HOLD].first] : 0.0;
        const int32_t compound = problem_compound_of(p, i);
        vec_frame(dim, row, frame);
        for (int k = 0; k < dim; k++) impulse[k] = (of[0] + hold) * frame[0][k];
        for (int k = 0; k < c->part[SLIDE].count; k++) {
            vec_add_scaled(dim, impulse, of[c->part[SLIDE].first + k], frame[k + 1]);
        }
        if (compound < 0) continue;
        double* torque = p->compound_rows[compound].torque;
        for (int k = 0; k < 3; k++) torque[k] = 0.0;
        for (int k = 0; k < c->part[ROLL].count; k++) {
            vec_add_scaled(spin_dim, torque, c->length * of[c->part[ROLL].first + k],
                           dim == 2 ? z : frame[k + 1]);
        }
        if (c->part[TWIST].count) {
            vec_add_scaled(3, torque, c->length * of[c->part[TWIST].first], frame[0]);
        }
    }
    problem_refresh(p);
}

// ---- motion ------------------------------------------------------------------------------------

static ALWAYS_INLINE void motion(const int width, const direct_cluster* s, const double* p,
                                 double* y)
{
    memset(y, 0, sizeof(double) * (size_t)(s->bodies * width));
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        for (int side = 0; side < 2; side++) {
            if (c->body[side] < 0) continue;
            double* of = y + (int64_t)c->body[side] * width;
            for (int64_t k = c->first; k < c->first + c->count; k++) {
                vec_add_scaled(width, of, p[k], s->J + (2 * k + side) * width);
            }
        }
    }
}

void direct_motion(const direct_cluster* s, const double* p, double* y)
{
    if (s->width == 3) {
        motion(3, s, p, y);
    } else {
        motion(6, s, p, y);
    }
}

static ALWAYS_INLINE void velocity_change(const int width, const direct_cluster* s,
                                          const direct_contact* c, const double* dy, double* dw)
{
    const double* J = s->J + 2 * c->first * width;
    for (int k = 0; k < c->count; k++) {
        dw[k] = 0.0;
        for (int side = 0; side < 2; side++) {
            if (c->body[side] < 0) continue;
            dw[k] +=
                vec_dot(width, J + (2 * k + side) * width, dy + (int64_t)c->body[side] * width);
        }
    }
}

void direct_velocity_change(const direct_cluster* s, const direct_contact* c, const double* dy,
                            double* dw)
{
    if (s->width == 3) {
        velocity_change(3, s, c, dy, dw);
    } else {
        velocity_change(6, s, c, dy, dw);
    }
}

void direct_velocities(const direct_cluster* s, const double* y, double* w)
{
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        direct_velocity_change(s, c, y, w + c->first);
        for (int64_t k = c->first; k < c->first + c->count; k++) w[k] += s->w_free[k];
    }
}

double direct_base(const direct_contact* c, const double* p)
{
    const double hold = c->part[HOLD].count ? p[c->part[HOLD].first] + c->bond : 0.0;
    return fmax(p[0] + hold, 0.0);
}

double direct_limit(const direct_contact* c, int part, double base, double* slope)
{
    if (part == SLIDE) {
        *slope = c->mu;
        return c->mu * base;
    }
    if (part == HOLD) {
        *slope = 0.0;
        return 0.5 * c->bond;
    }
    const rolling_bound* bound = part == ROLL ? &c->rolling : &c->torsion;
    const double limit = rolling_limit(bound, base, c->h) / c->length;
    *slope = base > 0.0 ? (1.0 + bound->exponent) * limit / base : 0.0;
    return limit;
}
