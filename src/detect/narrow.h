/// From pairs that may touch to contacts: gaps, normals, points. One file per pair of shapes.
#ifndef TALUS_DETECT_NARROW_H
#define TALUS_DETECT_NARROW_H

#include "body/cell.h"
#include "body/grains.h"
#include "body/walls.h"
#include "detect/contacts.h"
#include "detect/grid.h"

/// Append a contact for every ball pair whose gap is at most the sum of the two margins and the
/// range of bonds; beyond the margins it is marked distant. `margin` [grains]: how far each grain
/// may move in the step, beyond the common velocity.
talus_status ball_ball_contacts(const grains* g, const cell* periodic, const pair_list* pairs,
                                const double* margin, double range, contacts* out);

/// Append the contacts of all free grains with all present walls, walls in descending index so that
/// the list stays sorted. A wall's own motion in the step of length h, seen from the common
/// velocity `drift`, widens the search by as much, plus `wall_margin` [walls]. Sets escaped[row] =
/// 1 for a grain whose centre is behind a wall's surface.
talus_status ball_wall_contacts(const grains* g, const walls* w, const cell* periodic,
                                const double* margin, const double* wall_margin, double range,
                                const double drift[3], double h, uint8_t* escaped, contacts* out);

/// Gap between grain rows a and b with the normal from a to b (nearest image).
double ball_ball_gap(const grains* g, const cell* periodic, int64_t a, int64_t b, double normal[3]);
/// Gap between grain row b and the feature of a wall, +infinity if that feature is out of reach.
double ball_wall_gap(const grains* g, const walls* w, const cell* periodic, int wall,
                     int32_t feature, int64_t b);

#endif
