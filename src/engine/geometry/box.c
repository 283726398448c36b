/// Box: rectangle (2D) or cuboid (3D), as a solid obstacle or as a container with open faces.
///
/// Solid: one nearest point. Features number the 3^dim regions around the box, sum of 3^k times
/// 0, 1 or 2 for below, within or above the box on axis k; a point within the solid has the
/// negative distance to the nearest face and that face's number.
///
/// Container: one hit for every closed face in reach; the feature is the face, 0 x low, 1 x high,
/// 2 y low ... (the bits of open_faces), and stays the same from the face over to its rim.
///  - Within the box, and behind a closed face, each closed face acts as its whole plane: a point
///    behind it has escaped and gets distance < 0 with the inward normal. In a box without open
///    faces this holds at any depth.
///  - Beyond the plane of an open face each closed face is finite: nearest point, normal from
///    there to the point. Where faces meet only a local minimum of the distance to their union is
///    a hit, once, under the lowest face number.
///  - Beside an open box a point may have escaped or have come round a rim. It has escaped while
///    its depth is at most its distance below the nearest open plane, and at most half_size on
///    that axis; beyond that depth only the rims act. Walls that are to be touched from their
///    outer side are segments and plates.
#include "base/vec.h"
#include "geometry/shape.h"

static int solid_query(const double* half, int dim, const double* point, double reach,
                       shape_hit* hits)
{
    double away[3] = {0}, distance2 = 0.0, shallow = -INFINITY;
    int32_t region = 0, weight = 1, middle = 0, nearest_weight = 1;
    int nearest = 0;
    for (int k = 0; k < dim; k++, weight *= 3) {
        double excess = fabs(point[k]) - half[k];
        int32_t side = point[k] < 0.0 ? -1 : 1;
        if (excess > reach) return 0;
        if (excess > shallow) shallow = excess, nearest = k, nearest_weight = weight;
        if (excess > 0.0) {
            away[k] = side * excess;
            distance2 += excess * excess;
            region += side * weight;
        }
        middle += weight;
    }
    if (distance2 > 0.0) {
        double distance = sqrt(distance2);
        if (distance > reach) return 0;
        hits[0] = (shape_hit){.distance = distance, .feature = middle + region};
        for (int k = 0; k < dim; k++) hits[0].normal[k] = away[k] / distance;
        return 1;
    }
    int32_t side = point[nearest] < 0.0 ? -1 : 1;
    hits[0] = (shape_hit){.distance = shallow, .feature = middle + side * nearest_weight};
    hits[0].normal[nearest] = side;
    return 1;
}

/// A container and a point, in numbers that all faces share.
typedef struct container {
    const double* half;
    const double* point;
    int dim;
    unsigned open;
    double depth;     ///< behind the closed face that it is farthest behind; <= 0: behind none
    bool too_deep;    ///< behind a closed face by more than half the box
    double below_rim; ///< to the nearest open plane; < 0: beyond one; infinite: no face is open
    int rim_axis;     ///< axis and side of that plane
    double rim_side;
} container;

static bool face_open(const container* c, int axis, bool high)
{
    return c->open >> (2 * axis + high) & 1u;
}

/// Inward distance from the plane of a face.
static double face_height(const container* c, int axis, bool high)
{
    return c->half[axis] + (high ? -c->point[axis] : c->point[axis]);
}

static container container_see(const talus_shape_def* shape, int dim, const double* point)
{
    container c = {.half = shape->half_size,
                   .point = point,
                   .dim = dim,
                   .open = shape->open_faces,
                   .depth = -INFINITY,
                   .below_rim = INFINITY};
    for (int face = 0; face < 2 * dim; face++) {
        int axis = face / 2;
        bool high = face % 2;
        double height = face_height(&c, axis, high);
        if (!face_open(&c, axis, high)) {
            c.depth = fmax(c.depth, -height);
            c.too_deep |= -height > c.half[axis];
        } else if (height < c.below_rim) {
            c.below_rim = height;
            c.rim_axis = axis;
            c.rim_side = high ? 1.0 : -1.0;
        }
    }
    return c;
}

/// Faces as whole planes: the point is within the box or behind closed faces.
static int planes_query(const container* c, double reach, shape_hit* hits)
{
    int count = 0;
    for (int face = 0; face < 2 * c->dim; face++) {
        int axis = face / 2;
        bool high = face % 2;
        double height = face_height(c, axis, high);
        if (face_open(c, axis, high) || height > reach) continue;
        hits[count] = (shape_hit){.distance = height, .feature = face};
        hits[count++].normal[axis] = high ? -1.0 : 1.0;
    }
    return count;
}

/// Nearest point of one finite face; false if another face of the union has the nearer one there,
/// or the same one under a lower number.
static bool face_foot(const container* c, int axis, bool high, double foot[3])
{
    bool behind = face_height(c, axis, high) <= 0.0;
    foot[axis] = high ? c->half[axis] : -c->half[axis];
    for (int k = 0; k < c->dim; k++) {
        if (k == axis) continue;
        foot[k] = c->point[k];
        if (fabs(c->point[k]) >= c->half[k]) {
            bool side = c->point[k] > 0.0;
            foot[k] = side ? c->half[k] : -c->half[k];
            // On the border with a closed neighbour: from within, the distance falls on into the
            // neighbour; from behind, the neighbour has this very point too.
            if (!face_open(c, k, side) && (!behind || k < axis)) return false;
        } else if (behind && k == c->rim_axis) {
            foot[k] = c->rim_side * c->half[k];
        }
    }
    return true;
}

/// Faces as finite pieces: the point is beyond an open plane, or beside the box near a rim.
static int rims_query(const container* c, double reach, shape_hit* hits)
{
    int count = 0;
    for (int face = 0; face < 2 * c->dim; face++) {
        int axis = face / 2;
        bool high = face % 2;
        double foot[3], away[3] = {0};
        if (face_open(c, axis, high) || !face_foot(c, axis, high, foot)) continue;
        vec_sub(c->dim, away, c->point, foot);
        double distance = vec_norm(c->dim, away);
        if (distance > reach) continue;
        shape_hit hit = {.distance = distance, .feature = face};
        // Here the point is strictly beyond a plane that bounds the face, so never on the face.
        for (int k = 0; k < c->dim; k++) hit.normal[k] = away[k] / distance;
        hits[count++] = hit;
    }
    return count;
}

int box_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
              shape_hit* hits)
{
    if (!shape->inside) return solid_query(shape->half_size, dim, point, reach, hits);
    // Most grains are far from all faces, within or fallen out of the box.
    bool far_within = true;
    for (int k = 0; k < dim; k++) {
        double excess = fabs(point[k]) - shape->half_size[k];
        far_within &= -excess > reach;
        if (shape->open_faces && excess > fmax(reach, shape->half_size[k])) return 0;
    }
    if (far_within) return 0;

    container c = container_see(shape, dim, point);
    bool closed = c.below_rim == INFINITY;
    bool within_or_escaped = c.below_rim >= 0.0 && c.depth <= c.below_rim && !c.too_deep;
    return closed || within_or_escaped ? planes_query(&c, reach, hits)
                                       : rims_query(&c, reach, hits);
}
