/// Contacts between two grains of which at least one is a solid: every part against every part.
#include "base/vec.h"
#include "detect/narrow.h"
#include "geometry/feature.h"

/// Most points of a pair of parts; those of an earlier step are only a hint, so the rest is let go.
enum { MAX_KEPT = 8 };

/// How far outside a body a contact point may be and still show its overlap, as a share of the
/// depth.
static const double SLACK_DEPTH = 0.1;

/// A grain's part: of a ball the whole.
static convex part_of(const grains* g, const poses* p, int64_t grain, int part)
{
    return g->solid[grain] < 0 ? convex_ball(g->dim, g->radius[grain])
                               : p->part[p->first[grain] + part];
}

static int part_count(const grains* g, const poses* p, int64_t grain)
{
    return g->solid[grain] < 0 ? 1 : poses_count(p, grain);
}

/// Lowest and highest corner of a part about its grain's centre; those of a ball go to `room`.
static const double* part_box(const grains* g, const poses* p, int64_t grain, int part,
                              double* room)
{
    const int dim = g->dim;
    if (g->solid[grain] >= 0) return p->box + (p->first[grain] + part) * 2 * dim;
    for (int k = 0; k < dim; k++) {
        room[k] = -g->radius[grain];
        room[dim + k] = g->radius[grain];
    }
    return room;
}

static bool boxes_apart(int dim, const double* box_a, const double* box_b, const double* delta,
                        double reach)
{
    for (int k = 0; k < dim; k++) {
        if (box_b[k] + delta[k] - box_a[dim + k] > reach) return true;
        if (box_a[k] - (box_b[dim + k] + delta[k]) > reach) return true;
    }
    return false;
}

/// Rotation vector of a grain in the step.
static void turn_of(const narrow* n, int64_t grain, double turn[3])
{
    const int dim = n->g->dim;
    for (int k = 0; k < 3; k++) {
        turn[k] = dim == 3 ? n->h * n->spin[3 * grain + k] : k == 2 ? n->h * n->spin[grain] : 0.0;
    }
}

/// Names of the last step's points between these parts.
static int kept_features(const contacts* last, int64_t first, int64_t count, int part_a, int part_b,
                         int64_t* kept)
{
    int found = 0;
    for (int64_t c = first; c < first + count && found < MAX_KEPT; c++) {
        const int64_t feature = last->feature[c];
        if (feature_part_a(feature) != part_a || feature_part_b(feature) != part_b) continue;
        kept[found++] = feature_bare(feature);
    }
    return found;
}

/// A pair of grains on its way through the parts.
typedef struct grain_pair {
    int64_t a, b;
    double delta[3];
    double near, reach;
    int64_t last_first, last_count; ///< their contacts in the last step's list
    convex_hint hint;
} grain_pair;

static talus_status part_contacts(const narrow* n, grain_pair* p, int part_a, int part_b,
                                  contacts* out)
{
    double room_a[6], room_b[6];
    const double* box_a = part_box(n->g, n->poses, p->a, part_a, room_a);
    const double* box_b = part_box(n->g, n->poses, p->b, part_b, room_b);
    if (boxes_apart(n->g->dim, box_a, box_b, p->delta, p->reach)) return TALUS_OK;
    const convex a = part_of(n->g, n->poses, p->a, part_a);
    const convex b = part_of(n->g, n->poses, p->b, part_b);
    int64_t kept[MAX_KEPT];
    touch touches[CONVEX_MAX_TOUCHES];
    p->hint.kept = kept;
    p->hint.kept_count = kept_features(n->last, p->last_first, p->last_count, part_a, part_b, kept);
    int count = convex_touches(&a, &b, p->delta, p->reach, &p->hint, touches);
    const int dim = n->g->dim;
    for (const touch* t = touches; t < touches + count; t++) {
        const int64_t feature = feature_of_parts(t->feature, part_a, part_b);
        const int64_t c =
            narrow_append(n->g, out, p->a, p->b, feature, t->gap, t->normal, t->gap > p->near);
        if (c < 0 || contacts_need_arms(out)) return TALUS_ERR_MEMORY;
        for (int k = 0; k < dim; k++) {
            out->point[c * dim + k] = n->g->position[p->a * dim + k] + t->point[k];
            out->arm[c * dim + k] = t->point[k] - p->delta[k];
        }
    }
    return TALUS_OK;
}

static void grain_delta(const grains* g, const cell* periodic, int64_t a, int64_t b,
                        double delta[3])
{
    for (int k = 0; k < 3; k++) delta[k] = 0.0;
    vec_sub(g->dim, delta, g->position + b * g->dim, g->position + a * g->dim);
    cell_nearest(periodic, g->dim, delta);
}

talus_status solid_solid_contacts(const narrow* n, int64_t a, int64_t b, contacts_cursor* cursor,
                                  contacts* out)
{
    const grains* g = n->g;
    const int dim = g->dim;
    grain_pair p = {.a = a, .b = b, .near = n->margin[a] + n->margin[b]};
    p.reach = p.near + n->range;
    grain_delta(g, n->periodic, a, b, p.delta);
    const double reach_a = g->radius[a] + n->margin[a] + 0.5 * n->range;
    const double reach_b = g->radius[b] + n->margin[b] + 0.5 * n->range, sum = reach_a + reach_b;
    if (vec_dot(dim, p.delta, p.delta) > sum * sum) return TALUS_OK; // a pair kept for later
    p.last_count = contacts_seek(cursor, g->id[a], g->id[b], &p.last_first);
    for (int k = 0; k < dim; k++) {
        p.hint.shift[k] = n->h * (n->velocity[b * dim + k] - n->velocity[a * dim + k]);
    }
    turn_of(n, a, p.hint.turn_a);
    turn_of(n, b, p.hint.turn_b);
    const int parts_a = part_count(g, n->poses, a), parts_b = part_count(g, n->poses, b);
    for (int i = 0; i < parts_a; i++) {
        for (int j = 0; j < parts_b; j++) {
            if (part_contacts(n, &p, i, j, out)) return TALUS_ERR_MEMORY;
        }
    }
    return TALUS_OK;
}

/// Is a point, counted from the body's origin, inside a body without a skin or at most `slack`
/// above a face? The corners of a box on a box lie in the planes of its sides.
static bool point_inside(const convex* c, const double* x, double slack)
{
    const int dim = c->dim;
    if (!c->shape || c->skin > 0.0) return false;
    for (int f = 0; f < c->shape->face_count; f++) {
        const int at = dim == 2 ? f : c->shape->face_vertex[c->shape->face_first[f]];
        double height = 0.0;
        for (int k = 0; k < dim; k++) {
            height += c->normal[f * dim + k] * (x[k] - c->vertex[at * dim + k]);
        }
        if (height > slack) return false;
    }
    return true;
}

/// The bodies of a contact as they stand now.
typedef struct standing {
    convex a, b;
    double delta[3];
} standing;

static standing standing_now(const grains* g, const cell* periodic, const poses* p,
                             const contacts* list, int64_t c)
{
    const int64_t feature = list->feature[c];
    standing s = {.a = part_of(g, p, list->a_row[c], feature_part_a(feature)),
                  .b = part_of(g, p, list->b_row[c], feature_part_b(feature))};
    grain_delta(g, periodic, list->a_row[c], list->b_row[c], s.delta);
    return s;
}

/// Gap of the contact's features. *doubtful: they overlap by more than `tolerance`, and the point
/// is not inside both bodies.
static double feature_gap(const grains* g, const cell* periodic, const contacts* list, int64_t c,
                          const standing* s, double tolerance, bool* doubtful)
{
    const int dim = g->dim;
    const double gap =
        convex_gap(&s->a, &s->b, s->delta, feature_bare(list->feature[c]), list->normal + c * dim);
    *doubtful = false;
    if (gap >= -tolerance) return gap;
    double from_a[3], from_b[3];
    vec_sub(dim, from_a, list->point + c * dim, g->position + (int64_t)list->a_row[c] * dim);
    cell_nearest(periodic, dim, from_a);
    vec_sub(dim, from_b, from_a, s->delta);
    const double slack = tolerance - SLACK_DEPTH * gap;
    *doubtful = !point_inside(&s->a, from_a, slack) || !point_inside(&s->b, from_b, slack);
    return gap;
}

double solid_solid_gap(const grains* g, const cell* periodic, const poses* p, const contacts* list,
                       int64_t c, double tolerance)
{
    const standing s = standing_now(g, periodic, p, list, c);
    bool doubtful;
    double normal[3];
    const double gap = feature_gap(g, periodic, list, c, &s, tolerance, &doubtful);
    return doubtful ? convex_distance(&s.a, &s.b, s.delta, normal) : gap;
}

/// Overlap of the parts that a contact is between, `last` unless they are others.
static double overlap_of_parts(const contacts* list, int64_t c, const standing* s,
                               parts_overlap* last)
{
    const int part_a = feature_part_a(list->feature[c]), part_b = feature_part_b(list->feature[c]);
    if (!last->known || last->a != list->a_row[c] || last->b != list->b_row[c] ||
        last->part_a != part_a || last->part_b != part_b) {
        *last = (parts_overlap){true,   list->a_row[c], list->b_row[c],
                                part_a, part_b,         convex_overlap(&s->a, &s->b, s->delta)};
    }
    return last->overlap;
}

double solid_solid_overlap(const grains* g, const cell* periodic, const poses* p,
                           parts_overlap* last, const contacts* list, int64_t c, double tolerance)
{
    const standing s = standing_now(g, periodic, p, list, c);
    bool doubtful;
    const double gap = feature_gap(g, periodic, list, c, &s, tolerance, &doubtful);
    return doubtful ? overlap_of_parts(list, c, &s, last) : fmax(-gap, 0.0);
}
