/// Contacts through areas of overlap (soft/overlap.h): polygons with polygons, disks and walls, and
/// with the area law disks with disks and walls.
///
/// Every region is a contact: at its centroid, along its normal, with the gap -A/l_c. The length is
/// l_c = r_a + r_b with r = sqrt(area/pi) (PLMH 5). A wall has the size of the grain that it meets,
/// l_c = 2 r_b: it pushes like a grain of the same size whose surface is that of the wall.
#ifndef TALUS_SOFT_AREA_CONTACTS_H
#define TALUS_SOFT_AREA_CONTACTS_H

#include "detect/narrow.h"
#include "soft/overlap.h"

/// The shapes of grains and walls, and the grains in place.
typedef struct area_shapes {
    int64_t shape_capacity, form_capacity, first_capacity, number_capacity;
    overlap_shape* shape; ///< [solids] of the world; no cells: not needed so far
    overlap_shape* form;  ///< [walls]; no cells: the wall needs none
    int64_t* first;       ///< [grains + 1] where a grain's numbers begin
    double* half;         ///< [grains] sqrt(area/pi)
    double* number;       ///< shapes of all grains, placed about their centres
} area_shapes;

/// What contacts are found between. Nothing is owned.
typedef struct area_search {
    const area_shapes* shapes;
    const grains* g;
    const walls* w;
    const cell* periodic;
    int threads;
} area_search;

/// Forget the shapes, too: after a change of the world.
void area_shapes_free(area_shapes* s);
/// Make the shapes that are missing and bring all grains into place.
talus_status area_shapes_place(area_shapes* s, const grains* g, const walls* w, int threads);

/// Append the contacts of pairs of grains, in their order. Of what is carried over, `stored` is
/// half of A/l_c times the mean depth A/length: what the work up to here would be if the region had
/// always been as long, over the stiffness.
talus_status area_pair_contacts(const area_search* s, const pair_list* pairs, contacts* out);
/// Who meets walls for narrow_walls(): the same for walls. `s` must stay where it is.
wall_visitor area_wall_visitor(const area_search* s, bool balls);

#endif
