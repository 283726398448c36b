/// Contacts through areas of overlap (soft/overlap.h): polygons with polygons, disks and walls, and
/// with the area law disks with disks and walls.
///
/// Every region is a contact: at its centroid, along its normal, with the gap -A/l_c. The length is
/// l_c = r_a + r_b with r = sqrt(area/pi) (PLMH 5). A wall has the size of the grain that it meets,
/// l_c = 2 r_b: it pushes like a grain of the same size whose surface is that of the wall.
#ifndef TALUS_SOFT_SOLID_CONTACTS_H
#define TALUS_SOFT_SOLID_CONTACTS_H

#include "detect/narrow.h"
#include "soft/overlap.h"

/// The shapes of grains and walls, and the grains in place.
typedef struct outer_solids {
    int shape_count, form_count;
    overlap_shape* shape; ///< [shape_count] of the world's solids; no cells: not needed so far
    overlap_shape* form;  ///< [form_count] of the walls; no cells: the wall needs none
    int64_t* first;       ///< [grains + 1] where a grain's numbers begin
    int64_t first_capacity;
    double* number; ///< shapes of all grains, placed about their centres
    int64_t number_capacity;
} outer_solids;

/// What contacts are found between. Nothing is owned.
typedef struct solids_search {
    const outer_solids* solids;
    const grains* g;
    const walls* w;
    const cell* periodic;
    int threads;
} solids_search;

/// Forget the shapes, too: after a change of the world.
void outer_solids_free(outer_solids* s);
/// Make the shapes that are missing and bring all grains into place.
talus_status outer_solids_place(outer_solids* s, const grains* g, const walls* w, int threads);

/// Append the contacts of pairs of grains, in their order. Of what is carried over, `stored` is
/// half of A/l_c times the mean depth A/length: what the work up to here would be if the region had
/// always been as long, over the stiffness.
talus_status outer_solids_pairs(const solids_search* s, const pair_list* pairs, contacts* out);
/// Who meets walls for narrow_walls(): the same for walls. `s` must stay where it is.
wall_visitor outer_solids_visitor(const solids_search* s, bool balls);

#endif
