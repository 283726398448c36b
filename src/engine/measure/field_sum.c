/// Summing what grains and contacts spread over one layer of a grid.
///
/// A layer is summed by one thread, source after source: no sum depends on the number of threads.
#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "measure/contact_filter.h"
#include "measure/field.h"
#include "measure/tensor.h"

#include <stdlib.h>

// ---- sources -----------------------------------------------------------------------------------

void field_sources_free(field_task* t)
{
    field_sources* list[2] = {&t->grains, &t->contacts};
    for (int i = 0; i < 2; i++) {
        free(list[i]->item);
        free(list[i]->layer_first);
        free(list[i]->layer_item);
    }
}

/// All images of a thing at x whose ball of radius `size` about it reaches the grid.
static talus_status add_images(const field_task* t, field_sources* s, const double x[3],
                               double size, int64_t row)
{
    const domain* d = t->domain;
    const double reach = size + t->kernel.reach;
    const image_range range = domain_images(d, x, reach, d->low, d->high);
    int at[3];
    for (int k = 0; k < d->dim; k++) {
        if (x[k] + reach < d->low[k] && !d->cell.periodic[k]) return TALUS_OK;
        if (x[k] - reach > d->high[k] && !d->cell.periodic[k]) return TALUS_OK;
    }
    if (!image_first(&range, at)) return TALUS_OK;
    do {
        if (!arrays_grow(&s->capacity, s->count + 1, ARRAY(s->item))) return TALUS_ERR_MEMORY;
        field_source* source = &s->item[s->count++];
        source->row = row;
        image_shift(d, at, source->x);
        vec_add_scaled(d->dim, source->x, 1.0, x);
    } while (image_next(&range, at));
    return TALUS_OK;
}

/// Points of the grid from low to high along an axis; false if there are none.
static bool points_between(const talus_field* f, int k, double low, double high, int* first,
                           int* last)
{
    const double from = ceil((low - f->low[k]) / f->spacing[k] - 0.5);
    const double to = floor((high - f->low[k]) / f->spacing[k] - 0.5);
    *first = (int)fmin(fmax(from, 0.0), f->cells[k]);
    *last = (int)fmax(fmin(to, f->cells[k] - 1.0), -1.0);
    return *first <= *last;
}

/// Layers that a source may reach, one more on either side: rounding.
static bool layers_of(const field_task* t, const field_sources* s, int64_t i, int* first, int* last)
{
    const int up = t->out->dim - 1, layers = t->out->cells[up];
    double branch[3] = {0};
    if (s == &t->contacts) {
        contact_branch(t->world, &t->world->state.contacts, s->item[i].row, branch);
    }
    const double x = s->item[i].x[up], reach = t->kernel.reach + t->out->spacing[up];
    const double low = x + fmin(branch[up], 0.0) - reach, high = x + fmax(branch[up], 0.0) + reach;
    return layers > 0 && points_between(t->out, up, low, high, first, last);
}

/// List the sources of each layer, so that a layer need not look at all.
static talus_status list_layers(const field_task* t, field_sources* s)
{
    const int layers = t->out->cells[t->out->dim - 1];
    int first, last;
    // Counted one place further, so that filling moves layer_first[l + 1] to the end of layer l.
    s->layer_first = calloc((size_t)layers + 2, sizeof *s->layer_first);
    if (!s->layer_first) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < s->count; i++) {
        if (!layers_of(t, s, i, &first, &last)) continue;
        for (int l = first; l <= last; l++) s->layer_first[l + 2]++;
    }
    for (int l = 2; l <= layers + 1; l++) s->layer_first[l] += s->layer_first[l - 1];
    const size_t all = (size_t)s->layer_first[layers + 1];
    s->layer_item = malloc(sizeof *s->layer_item * (all + 1));
    if (!s->layer_item) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < s->count; i++) {
        if (!layers_of(t, s, i, &first, &last)) continue;
        for (int l = first; l <= last; l++) s->layer_item[s->layer_first[l + 1]++] = i;
    }
    return TALUS_OK;
}

talus_status field_sources_find(field_task* t, bool stress)
{
    const grains* g = &t->world->state.grains;
    const contacts* list = &t->world->state.contacts;
    double x[3] = {0}, branch[3] = {0};
    for (int64_t i = 0; i < g->count; i++) {
        vec_copy(g->dim, x, g->position + i * g->dim);
        if (add_images(t, &t->grains, x, 0.0, i)) return TALUS_ERR_MEMORY;
    }
    for (int64_t c = 0; c < list->count && stress; c++) {
        if (list->state[c] == TALUS_CONTACT_OPEN) continue;
        if (!contact_is_free(g, list->a_row[c]) && !contact_is_free(g, list->b_row[c])) continue;
        contact_branch(t->world, list, c, branch);
        contact_branch_start(t->world, list, c, x);
        if (add_images(t, &t->contacts, x, vec_norm(3, branch), c)) return TALUS_ERR_MEMORY;
    }
    return list_layers(t, &t->grains) || list_layers(t, &t->contacts) ? TALUS_ERR_MEMORY : TALUS_OK;
}

// ---- sums --------------------------------------------------------------------------------------

static double point_at(const talus_field* f, int k, int i)
{
    return f->low[k] + (i + 0.5) * f->spacing[k];
}

/// Rows of a layer's points near a box low..high: along the first axis and, in 3D, the second.
typedef struct patch {
    int first[2], last[2];
    int64_t row; ///< of point (0, 0) of the layer
    double height;
} patch;

static bool patch_make(const talus_field* f, int layer, const double low[3], const double high[3],
                       patch* out)
{
    const int up = f->dim - 1;
    const int64_t across = f->dim == 2 ? f->cells[0] : (int64_t)f->cells[0] * f->cells[1];
    *out = (patch){.row = layer * across, .height = point_at(f, up, layer)};
    if (out->height < low[up] || out->height > high[up]) return false;
    for (int k = 0; k < up; k++) {
        if (!points_between(f, k, low[k], high[k], &out->first[k], &out->last[k])) return false;
    }
    return true;
}

/// The place of a patch's point, and its row.
static int64_t patch_point(const talus_field* f, const patch* p, int i, int j, double x[3])
{
    x[0] = point_at(f, 0, i);
    x[1] = f->dim == 3 ? point_at(f, 1, j) : p->height;
    x[2] = f->dim == 3 ? p->height : 0.0;
    return p->row + i + (int64_t)f->cells[0] * j;
}

static void add_grain(const field_task* t, int layer, const field_source* s)
{
    talus_field* f = t->out;
    const grains* g = &t->world->state.grains;
    const int dim = f->dim;
    const double reach = t->kernel.reach, volume = grain_volume(g, s->row);
    const double mass = g->glued_to[s->row] == GRAIN_FREE ? g->mass[s->row] : 0.0;
    const double* v = g->velocity + s->row * dim;
    double low[3], high[3], x[3], arm[3];
    patch p;
    for (int k = 0; k < 3; k++) low[k] = s->x[k] - reach, high[k] = s->x[k] + reach;
    if (!patch_make(f, layer, low, high, &p)) return;
    for (int j = p.first[1]; j <= p.last[1]; j++) {
        for (int i = p.first[0]; i <= p.last[0]; i++) {
            const int64_t row = patch_point(f, &p, i, j, x);
            vec_sub(3, arm, s->x, x);
            const double phi = kernel_at(&t->kernel, vec_dot(3, arm, arm));
            if (phi == 0.0) continue;
            f->fraction[row] += phi * volume;
            f->density[row] += phi * mass;
            vec_add_scaled(dim, f->momentum + row * dim, phi * mass, v);
            if (f->kinetic) tensor_add(dim, f->kinetic + 9 * row, phi * mass, v, v);
        }
    }
}

static void add_contact(const field_task* t, int layer, const field_source* s)
{
    talus_field* f = t->out;
    const contacts* list = &t->world->state.contacts;
    const int dim = f->dim;
    const double reach = t->kernel.reach, *force = list->force + s->row * dim;
    const grains* g = &t->world->state.grains;
    // Of the force on the one free body, where the other one is a boundary.
    const double sign = !contact_is_free(g, list->a_row[s->row])   ? 1.0
                        : !contact_is_free(g, list->b_row[s->row]) ? -1.0
                                                                   : 0.0;
    double branch[3] = {0}, low[3], high[3], x[3], arm[3];
    patch p;
    contact_branch(t->world, list, s->row, branch);
    for (int k = 0; k < 3; k++) {
        low[k] = s->x[k] + fmin(branch[k], 0.0) - reach;
        high[k] = s->x[k] + fmax(branch[k], 0.0) + reach;
    }
    if (!patch_make(f, layer, low, high, &p)) return;
    for (int j = p.first[1]; j <= p.last[1]; j++) {
        for (int i = p.first[0]; i <= p.last[0]; i++) {
            const int64_t row = patch_point(f, &p, i, j, x);
            vec_sub(3, arm, s->x, x);
            tensor_add(dim, f->contact + 9 * row, kernel_along(&t->kernel, arm, branch), force,
                       branch);
            if (sign == 0.0) continue;
            // The boundary is where the branch begins, or where it ends if b is the boundary.
            if (sign < 0.0) vec_add_scaled(3, arm, 1.0, branch);
            vec_add_scaled(dim, f->boundary + row * dim,
                           sign * kernel_at(&t->kernel, vec_dot(3, arm, arm)), force);
        }
    }
}

void field_layer(const field_task* t, int layer)
{
    talus_field* f = t->out;
    const int64_t across = f->count / f->cells[f->dim - 1];
    const field_sources *g = &t->grains, *c = &t->contacts;
    for (int64_t i = g->layer_first[layer]; i < g->layer_first[layer + 1]; i++) {
        add_grain(t, layer, &g->item[g->layer_item[i]]);
    }
    for (int64_t i = c->layer_first[layer]; i < c->layer_first[layer + 1]; i++) {
        add_contact(t, layer, &c->item[c->layer_item[i]]);
    }
    // Velocity, and the kinetic stress about it.
    const int dim = f->dim;
    for (int64_t i = layer * across; i < (layer + 1) * across; i++) {
        double* v = f->velocity + i * dim;
        if (!(f->density[i] > 0.0)) continue;
        for (int k = 0; k < dim; k++) v[k] = f->momentum[i * dim + k] / f->density[i];
        if (f->kinetic) tensor_add(dim, f->kinetic + 9 * i, -f->density[i], v, v);
    }
}
