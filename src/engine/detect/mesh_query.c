/// What of the mesh is near a body, and which of the contacts found there are kept.
///
/// Where bodies overlap, an edge pair or a corner within b may be found in a direction in which the
/// overlap is deep though another contact explains it with a small depth. It is left out then: a
/// local form of the separating-axis rule that the least depth is the true one.
#include "detect/mesh_query.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { STACK_DEPTH = 64 };
/// Bodies that turn farther in a step are followed on their way (passage.h), rad.
static const double FARTHEST_TURN = 0.3;

void touch_list_free(touch_list* list)
{
    free(list->row);
    *list = (touch_list){0};
}

/// Room for one more element; `local` is where the list began.
static bool list_grow(void** row, void* local, int count, int* capacity, size_t size)
{
    if (count < *capacity) return true;
    size_t larger = 2 * (size_t)*capacity;
    void* grown = malloc(larger * size);
    if (!grown) return false;
    memcpy(grown, *row, (size_t)count * size);
    if (*row != local) free(*row);
    *row = grown;
    *capacity = (int)larger;
    return true;
}

static void index_add(query* q, index_list* list, int32_t index)
{
    void* row = list->row;
    if (!list_grow(&row, list->local, list->count, &list->capacity, sizeof *list->row)) {
        q->failed = true;
        return;
    }
    list->row = row;
    list->row[list->count++] = index;
}

static int index_order(const void* a, const void* b)
{
    int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
    return x < y ? -1 : x > y;
}

static void index_unique(index_list* list)
{
    if (list->count < 2) return;
    qsort(list->row, (size_t)list->count, sizeof *list->row, index_order);
    int kept = 1;
    for (int i = 1; i < list->count; i++)
        if (list->row[i] != list->row[kept - 1]) list->row[kept++] = list->row[i];
    list->count = kept;
}

/// Remember a contact between mesh point x and b's point y, with its gap h along the unit normal.
void query_add(query* q, const double x[3], const double y[3], const double normal[3], double h,
               int rank, int64_t feature)
{
    void* row = q->found.row;
    if (!list_grow(&row, q->found.local, q->found.count, &q->found.capacity, sizeof(found))) {
        q->failed = true;
        return;
    }
    q->found.row = row;
    found* f = q->found.row + q->found.count++;
    *f = (found){.h = h, .rank = rank};
    f->t.feature = feature;
    f->t.gap = h - q->m->skin - q->b->skin;
    for (int k = 0; k < 3; k++) {
        f->x[k] = x[k];
        f->t.normal[k] = normal[k];
        f->t.point[k] = 0.5 * (x[k] + y[k] + (q->m->skin - q->b->skin) * normal[k]);
    }
}

void query_before_hollow(query* q, const double seen[3])
{
    if (q->failed) return;
    found* last = q->found.row + q->found.count - 1;
    last->before_hollow = true;
    vec_copy(3, last->x, seen);
}

double mesh_winding(const mesh* m, int32_t triangle)
{
    const double* c = m->corner + 9 * triangle;
    double u[3], v[3], across[3];
    vec_sub(3, u, c + 3, c);
    vec_sub(3, v, c + 6, c);
    vec_cross(across, u, v);
    return vec_dot(3, across, m->normal + 3 * triangle) < 0.0 ? -1.0 : 1.0;
}

double mesh_inside_side(const mesh* m, int32_t triangle, int k, double winding, const double x[3])
{
    const double* c = m->corner + 9 * triangle;
    double along[3], to[3], turn[3];
    vec_sub(3, along, c + 3 * ((k + 1) % 3), c + 3 * k);
    vec_sub(3, to, x, c + 3 * k);
    vec_cross(turn, along, to);
    return winding * vec_dot(3, turn, m->normal + 3 * triangle) / vec_norm(3, along);
}

/// Does x, moved onto the triangle's plane, lie within it or at most `slack` outside?
bool mesh_over_triangle(const mesh* m, int32_t triangle, const double x[3], double slack)
{
    const double sense = mesh_winding(m, triangle);
    double least = INFINITY;
    for (int k = 0; k < 3; k++) least = fmin(least, mesh_inside_side(m, triangle, k, sense, x));
    return least >= -slack;
}

/// Is the mesh between the points `from` of b and `to` of the mesh?
static bool hidden(const query* q, const double from[3], const double to[3])
{
    const mesh* m = q->m;
    for (int i = 0; i < q->triangle.count; i++) {
        int32_t t = q->triangle.row[i];
        double a = mesh_height(m, t, from), b = mesh_height(m, t, to);
        if (a * b >= 0.0 || fabs(a) <= q->eps || fabs(b) <= q->eps) continue;
        double at[3];
        for (int k = 0; k < 3; k++) at[k] = from[k] + a / (a - b) * (to[k] - from[k]);
        if (mesh_over_triangle(m, t, at, q->eps)) return true;
    }
    return false;
}

/// Are all of `count` corners in a row of the mesh out of reach over one face of b?
static bool beyond_face(const query* q, const double* corner, int count)
{
    for (int32_t f = 0; q->b->shape && f < q->b->shape->face_count; f++) {
        int over = 0;
        while (over < count && query_over_face(q, f, corner + 3 * over) > q->reach) over++;
        if (over == count) return true;
    }
    return false;
}

/// Does the segment's box meet b's box?
static bool near_box(const query* q, const double a[3], const double b[3])
{
    for (int k = 0; k < 3; k++)
        if (fmin(a[k], b[k]) > q->high[k] || fmax(a[k], b[k]) < q->low[k]) return false;
    return true;
}

/// Sharp edges and corners of the triangles that were gathered.
void query_features(query* q)
{
    const mesh* m = q->m;
    for (int i = 0; i < q->triangle.count; i++) {
        int32_t t = q->triangle.row[i];
        for (int k = 0; k < 3; k++) {
            int32_t e = m->triangle_edge[3 * t + k], v = m->triangle[3 * t + k];
            double ends[6]; // from this corner to the next
            vec_copy(3, ends, m->corner + 9 * t + 3 * k);
            vec_copy(3, ends + 3, m->corner + 9 * t + (3 * k + 3) % 9);
            if (m->edge_sharp[e] && near_box(q, ends, ends + 3) && !beyond_face(q, ends, 2))
                index_add(q, &q->edge, e);
            if (m->vertex_kind[v] != VERTEX_FLAT && near_box(q, ends, ends) &&
                !beyond_face(q, ends, 1))
                index_add(q, &q->vertex, v);
        }
    }
    index_unique(&q->edge);
    index_unique(&q->vertex);
}

void query_begin(query* q, const mesh* m, const convex* b, const double delta[3], double reach)
{
    // Not zeroed as a whole: the local memory of the lists is large.
    q->m = m, q->b = b, q->delta = delta, q->radius = 0.0, q->failed = false;
    index_list* lists[] = {&q->triangle, &q->edge, &q->vertex};
    for (int k = 0; k < 3; k++) {
        lists[k]->row = lists[k]->local;
        lists[k]->count = 0;
        lists[k]->capacity = MESH_LIST_LOCAL;
    }
    q->found.row = q->found.local, q->found.count = 0, q->found.capacity = MESH_FOUND_LOCAL;
    // b's middle, ball and box.
    q->moves = reach;
    q->reach = reach + b->skin + m->skin;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY, sum = 0.0;
        for (int32_t v = 0; v < b->vertex_count; v++) {
            double x = b->vertex[3 * v + k];
            low = fmin(low, x), high = fmax(high, x), sum += x;
        }
        q->middle[k] = q->delta[k] + sum / b->vertex_count;
        q->low[k] = q->delta[k] + low - q->reach;
        q->high[k] = q->delta[k] + high + q->reach;
    }
    for (int32_t v = 0; v < b->vertex_count; v++) {
        double x[3];
        query_corner(q, v, x);
        q->radius = fmax(q->radius, distance_between(x, q->middle));
    }
    q->eps = 1e-13 * (q->m->size + q->radius + vec_norm(3, q->middle));
    // Who is looked for as far as `reach` may turn by so much: its outermost points go no farther.
    q->slack = fmax(fmin(reach / q->radius, FARTHEST_TURN), PARALLEL_SLACK);
    // Triangles whose boxes meet b's box.
    int32_t stack[STACK_DEPTH];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t index = stack[--depth];
        const mesh_node* node = m->node + index;
        bool apart = false;
        for (int k = 0; k < 3; k++) apart |= node->low[k] > q->high[k] || node->high[k] < q->low[k];
        if (apart) continue;
        if (node->count == 0) {
            stack[depth++] = node->right;
            stack[depth++] = index + 1;
            continue;
        }
        for (int32_t i = node->first; i < node->first + node->count; i++) {
            int32_t t = m->order[i];
            // What b does not reach neither touches nor hides anything.
            if (fabs(mesh_height(m, t, q->middle)) <= q->radius + q->reach &&
                !beyond_face(q, m->corner + 9 * t, 3))
                index_add(q, &q->triangle, t);
        }
    }
}

void query_end(query* q)
{
    index_list* lists[] = {&q->triangle, &q->edge, &q->vertex};
    for (int k = 0; k < 3; k++)
        if (lists[k]->row != lists[k]->local) free(lists[k]->row);
    if (q->found.row != q->found.local) free(q->found.row);
}

/// Is b nearer to something else close by?
static bool founded(const query* q, const found* k)
{
    for (int i = 0; i < q->found.count; i++) {
        const found* j = q->found.row + i;
        if (j->before_hollow || j->h > k->h + q->eps) continue;
        const double near = 2.0 * q->moves + fabs(j->h) + fabs(k->h);
        if (distance_between(j->t.point, k->t.point) <= near) return true;
    }
    return false;
}

void query_drop_unfounded(query* q)
{
    int kept = 0, count = q->found.count;
    for (int i = 0; i < count; i++) {
        found* k = q->found.row + i;
        k->dropped = k->before_hollow && !founded(q, k);
    }
    for (int i = 0; i < count; i++)
        if (!q->found.row[i].dropped) q->found.row[kept++] = q->found.row[i];
    q->found.count = kept;
}

/// A deep overlap of an edge pair or of a corner within b that a shallower contact nearby explains.
static bool explained(const query* q, const found* k)
{
    if (k->rank == RANK_FACE || k->h >= -q->eps) return false;
    for (int i = 0; i < q->found.count; i++) {
        const found* j = q->found.row + i;
        if (j->h > 1e3 * q->eps || -j->h > -0.5 * k->h) continue;
        if (distance_between(j->t.point, k->t.point) <= -2.0 * k->h) return true;
    }
    return false;
}

void query_drop_explained(query* q)
{
    int kept = 0, count = q->found.count;
    // Judged against all that was found, so that the order does not matter.
    for (int i = 0; i < count; i++) q->found.row[i].dropped = explained(q, q->found.row + i);
    for (int i = 0; i < count; i++)
        if (!q->found.row[i].dropped) q->found.row[kept++] = q->found.row[i];
    q->found.count = kept;
}

/// The same point and normal under a lower rank, or under the same rank and a lower name; also the
/// same name with a smaller gap.
static bool doubled(const query* q, int at)
{
    const found* k = q->found.row + at;
    for (int i = 0; i < q->found.count; i++) {
        const found* j = q->found.row + i;
        if (i == at) continue;
        if (j->t.feature == k->t.feature) {
            if (j->h < k->h || (j->h == k->h && i < at)) return true;
            continue;
        }
        if (j->rank > k->rank || (j->rank == k->rank && j->t.feature > k->t.feature)) continue;
        double slack = 1e3 * q->eps + 4.0 * CONE_SLACK * fabs(k->h);
        if (distance_between(j->t.point, k->t.point) <= slack &&
            vec_dot(3, j->t.normal, k->t.normal) > 1.0 - PARALLEL_SLACK)
            return true;
    }
    return false;
}

/// Does contact j press on the same plane as k?
static bool one_plane(const query* q, const touch* j, const touch* k)
{
    double u[3], across[3];
    vec_cross(across, j->normal, k->normal);
    if (vec_dot(3, j->normal, k->normal) < 0.0 || vec_norm(3, across) > CONE_SLACK) return false;
    vec_sub(3, u, j->point, k->point);
    double between = vec_dot(3, u, k->normal) - 0.5 * (j->gap - k->gap);
    return fabs(between) <= 1e3 * q->eps;
}

static int touch_order(const void* a, const void* b)
{
    const touch *x = a, *y = b;
    return x->feature < y->feature ? -1 : x->feature > y->feature;
}

/// Append what is left of the contacts found.
talus_status query_sift(query* q, const convex_hint* hint, touch_list* out)
{
    int visible = 0; // what lies behind another triangle does not touch
    for (int i = 0; i < q->found.count; i++) {
        const found* f = q->found.row + i;
        double y[3];
        for (int k = 0; k < 3; k++) y[k] = f->x[k] + f->h * f->t.normal[k];
        if (q->triangle.count < 2 || f->h <= 0.0 || !hidden(q, y, f->x)) {
            q->found.row[visible++] = *f;
        }
    }
    q->found.count = visible;
    if (!arrays_grow(&out->capacity, out->count + q->found.count, ARRAY(out->row))) {
        return TALUS_ERR_MEMORY;
    }
    touch* points = out->row + out->count;
    int count = 0;
    for (int i = 0; i < q->found.count; i++)
        if (!doubled(q, i)) points[count++] = q->found.row[i].t;
    // Reduce the points of each plane to as many as it takes.
    const double size = rest_size(2.0 * (q->radius + q->b->skin), q->b->thickness);
    int done = 0;
    while (done < count) {
        int end = done + 1;
        for (int i = end; i < count; i++) {
            if (!one_plane(q, points + i, points + done)) continue;
            touch swap = points[end];
            points[end++] = points[i];
            points[i] = swap;
        }
        int kept = end - done;
        const int most = touches_most(hint, points[done].normal, q->moves, size);
        if (kept > most) kept = touches_reduce(points + done, kept, most, hint);
        memmove(points + done + kept, points + end, (size_t)(count - end) * sizeof *points);
        count -= end - done - kept;
        done += kept;
    }
    qsort(points, (size_t)count, sizeof *points, touch_order);
    out->count += count;
    return TALUS_OK;
}
