/// Building and searching the tree of balls; see power_tree.h.
///
/// Seen from ball i, with d the way to j and D its length, the plane between them is at
///   key = (D^2 + r_i^2 - r_j^2) / (2 D),
/// and the point v is beyond it by  v.d/D - key = gain / (2 D), where the gain is the difference of
/// the powers |v|^2 - r_i^2 and |v - d|^2 - r_j^2. In a box at the distance b from v no ball has a
/// smaller power than b^2 - R^2, R being the largest radius there.
#include "measure/power_tree.h"

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"

#include <float.h>
#include <stdlib.h>

enum { LEAF = 8, DEEPEST = 64 };

void power_tree_free(power_tree* t)
{
    free(t->x);
    free(t->radius);
    free(t->item);
    free(t->node);
    *t = (power_tree){0};
}

// ---- building ----------------------------------------------------------------------------------

/// A ball on its way into the order.
typedef struct ball {
    double x[3], radius;
    int32_t item;
} ball;

static bool ball_less(const ball* a, const ball* b, int axis)
{
    return a->x[axis] != b->x[axis] ? a->x[axis] < b->x[axis] : a->item < b->item;
}

/// Put the balls before `middle` that are lower along an axis (quickselect, by the middle of
/// three).
static void part_balls(ball* b, int64_t count, int64_t middle, int axis)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        ball pivot = b[low], other = b[high], between = b[low + (high - low) / 2];
        if (ball_less(&other, &pivot, axis)) pivot = b[high], other = b[low];
        if (ball_less(&pivot, &between, axis)) {
            pivot = ball_less(&between, &other, axis) ? between : other;
        }
        int64_t i = low, j = high;
        while (i <= j) {
            while (ball_less(&b[i], &pivot, axis)) i++;
            while (ball_less(&pivot, &b[j], axis)) j--;
            if (i > j) break;
            const ball swap = b[i];
            b[i++] = b[j];
            b[j--] = swap;
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

static void set_box(const ball* b, power_node* n)
{
    n->radius = 0.0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = n->first; i < n->first + n->count; i++) {
            low = fmin(low, b[i].x[k]);
            high = fmax(high, b[i].x[k]);
        }
        n->middle[k] = 0.5 * (low + high);
        // Rounding must not leave a ball outside.
        n->half[k] = 0.5 * (high - low) + 4.0 * DBL_EPSILON * fmax(fabs(low), fabs(high));
    }
    for (int64_t i = n->first; i < n->first + n->count; i++) {
        n->radius = fmax(n->radius, b[i].radius);
    }
}

/// Make the node of the balls first..first + count, and those below it.
static void split(power_tree* t, ball* b, int64_t first, int64_t count)
{
    power_node* n = &t->node[t->nodes++];
    *n = (power_node){.first = first, .count = count};
    set_box(b, n);
    if (count <= LEAF) return;
    int axis = 0;
    for (int k = 1; k < 3; k++) axis = n->half[k] > n->half[axis] ? k : axis;
    part_balls(b + first, count, count / 2, axis);
    split(t, b, first, count / 2);
    n->right = t->nodes;
    split(t, b, first + count / 2, count - count / 2);
}

talus_status power_tree_make(int dim, const double* x, const double* radius, int64_t count,
                             const cell* periodic, power_tree* out)
{
    const size_t n = (size_t)count + 1;
    *out = (power_tree){.dim = dim, .count = count, .cell = *periodic};
    ball* b = calloc(n, sizeof *b);
    out->x = malloc(sizeof *out->x * 3 * n);
    out->radius = malloc(sizeof *out->radius * n);
    out->item = malloc(sizeof *out->item * n);
    // Leaves have LEAF / 2 balls at least, and there are fewer branches than leaves.
    out->node = malloc(sizeof *out->node * (n / 2 + 2));
    if (!b || !out->x || !out->radius || !out->item || !out->node) {
        free(b);
        power_tree_free(out);
        return TALUS_ERR_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        vec_copy(dim, b[i].x, x + i * dim);
        b[i].radius = radius[i];
        b[i].item = (int32_t)i;
    }
    split(out, b, 0, count);
    for (int64_t i = 0; i < count; i++) {
        vec_copy(3, out->x + 3 * i, b[i].x);
        out->radius[i] = b[i].radius;
        out->item[i] = b[i].item;
    }
    free(b);
    return TALUS_OK;
}

// ---- searching ---------------------------------------------------------------------------------

/// Square of the distance from place + corner to the nearest image of a node's box.
static double square_to(const power_tree* t, const power_node* n, const double place[3],
                        const double corner[3])
{
    double square = 0.0;
    for (int k = 0; k < t->dim; k++) {
        double off = place[k] - n->middle[k] + corner[k];
        if (t->cell.periodic[k]) off -= t->cell.length[k] * rint(off / t->cell.length[k]);
        off = fmax(fabs(off) - n->half[k], 0.0);
        square += off * off;
    }
    return square;
}

/// The way from `place` to the image of ball i that is nearest to place + corner.
static void way_to(const power_tree* t, int64_t i, const double place[3], const double corner[3],
                   double delta[3])
{
    for (int k = 0; k < 3; k++) {
        delta[k] = k < t->dim ? t->x[3 * i + k] - place[k] : 0.0;
        if (k >= t->dim || !t->cell.periodic[k]) continue;
        const double length = t->cell.length[k];
        delta[k] += length * rint((corner[k] - delta[k]) / length);
    }
}

/// How far a ball of radius up to `other` can be whose plane is nearer than `high`; < 0: nowhere.
static double reach_of(double r, double other, double high)
{
    const double square = high * high + other * other - r * r;
    return square < 0.0 ? -1.0 : (1.0 + 1e-12) * (high + sqrt(square));
}

talus_status power_tree_planes(const power_tree* t, const double place[3], double r, double high,
                               near_list* out)
{
    static const double here[3] = {0};
    int64_t stack[DEEPEST] = {0};
    for (int depth = t->count > 0; depth > 0;) {
        const int64_t at = stack[--depth];
        const power_node* n = &t->node[at];
        const double reach = reach_of(r, n->radius, high);
        if (reach < 0.0 || square_to(t, n, place, here) > reach * reach) continue;
        if (n->right > 0) {
            stack[depth++] = n->right;
            stack[depth++] = at + 1;
            continue;
        }
        for (int64_t i = n->first; i < n->first + n->count; i++) {
            near_point p = {.item = t->item[i]};
            way_to(t, i, place, here, p.delta);
            const double square = vec_dot(3, p.delta, p.delta);
            p.distance = sqrt(square);
            p.key = square > 0.0 ? power_key(square, r, t->radius[i], p.distance) : -INFINITY;
            if (p.key >= high) continue;
            if (!arrays_grow(&out->capacity, out->count + 1, ARRAY(out->point))) {
                return TALUS_ERR_MEMORY;
            }
            out->point[out->count++] = p;
        }
    }
    return TALUS_OK;
}

bool power_tree_is_whole(const power_tree* t, double r, double high)
{
    const double reach = reach_of(r, t->node[0].radius, high);
    for (int k = 0; k < t->dim; k++) {
        if (t->cell.periodic[k] && reach >= 0.5 * t->cell.length[k]) return false;
    }
    return true;
}

bool power_tree_owner(const power_tree* t, const double place[3], double r, const double corner[3],
                      double slack, near_point* out)
{
    double best = 0.0; // gain
    const double square = vec_dot(3, corner, corner), rounding = 1e-13;
    struct {
        int64_t node;
        double least;
    } stack[DEEPEST] = {{0, 0.0}};
    for (int depth = t->count > 0; depth > 0;) {
        depth--;
        const int64_t at = stack[depth].node;
        const power_node* n = &t->node[at];
        const double big = n->radius * n->radius;
        const double most = square - r * r - best + big + rounding * (square + big);
        if (stack[depth].least > most) continue;
        for (int64_t i = n->first; n->right == 0 && i < n->first + n->count; i++) {
            double delta[3];
            way_to(t, i, place, corner, delta);
            const double away = vec_dot(3, delta, delta), other = t->radius[i];
            const double gain = 2.0 * vec_dot(3, delta, corner) - (away + (r * r - other * other));
            if (gain <= best || away == 0.0) continue;
            const double distance = sqrt(away);
            if (gain <= 2.0 * distance * slack) continue;
            best = gain;
            *out = (near_point){.distance = distance,
                                .key = power_key(away, r, other, distance),
                                .item = t->item[i]};
            vec_copy(3, out->delta, delta);
        }
        if (n->right == 0) continue;
        // The nearer half first: it comes last on the stack.
        const double a = square_to(t, &t->node[at + 1], place, corner);
        const double b = square_to(t, &t->node[n->right], place, corner);
        const bool first = a <= b;
        stack[depth].node = first ? n->right : at + 1;
        stack[depth++].least = first ? b : a;
        stack[depth].node = first ? at + 1 : n->right;
        stack[depth++].least = first ? a : b;
    }
    return best > 0.0;
}
