/// A tree of balls, to find planes of the radical Voronoi diagram from a grain or from a corner.
///
/// Halves of halves of the balls (k-d tree), each with its box and largest radius: the cost does
/// not depend on how unevenly they are spread or sized. Along periodic axes the nearest images
/// count.
#ifndef TALUS_MEASURE_POWER_TREE_H
#define TALUS_MEASURE_POWER_TREE_H

#include "detect/bins.h"
#include "state/cell.h"

typedef struct power_node {
    double middle[3], half[3]; ///< box around the centres
    double radius;             ///< largest
    int64_t first, count;      ///< of the balls in order
    int64_t right;             ///< second half; the first is the next node. 0: a leaf
} power_node;

typedef struct power_tree {
    int dim;
    int64_t count;
    cell cell;
    double* x;      ///< [count][3] in the tree's order
    double* radius; ///< [count]
    int32_t* item;  ///< [count] the caller's rows
    power_node* node;
    int64_t nodes;
} power_tree;

/// Make a tree of balls at x [count][dim]. The caller owns *out: power_tree_free().
talus_status power_tree_make(int dim, const double* x, const double* radius, int64_t count,
                             const cell* periodic, power_tree* out);
void power_tree_free(power_tree* t);

/// The plane between a ball of radius r and one at point->delta: its distance to point->key.
static inline double power_key(double square, double r, double other, double distance)
{
    return (square + (r * r - other * other)) / (2.0 * distance);
}

/// Add the balls (nearest images) whose planes are from `low` up to, not at, `high` from a ball of
/// radius r at `place`, with these distances as keys. Balls at the same place have the key
/// -INFINITY.
talus_status power_tree_planes(const power_tree* t, const double place[3], double r, double high,
                               near_list* out);
/// Is the list of planes nearer than `high` whole, or can there be some of images farther away?
bool power_tree_is_whole(const power_tree* t, double r, double high);
/// The ball to which the point `place` + `corner` belongs, if its plane is farther than `slack`
/// before the point, seen from a ball of radius r at `place`. Other balls at `place` do not count.
bool power_tree_owner(const power_tree* t, const double place[3], double r, const double corner[3],
                      double slack, near_point* out);

#endif
