/// From pairs that may touch to contacts: gaps, normals, points. One file per pair of shapes.
#ifndef TALUS_DETECT_NARROW_H
#define TALUS_DETECT_NARROW_H

#include "detect/contacts.h"
#include "detect/grid.h"
#include "detect/mesh_touch.h"
#include "detect/poses.h"
#include "state/cell.h"
#include "state/grains.h"
#include "state/walls.h"

typedef struct wall_approach wall_approach;

/// Somebody who meets walls otherwise, and is only told who is near. It appends the contacts of a
/// grain with one image of a wall in ascending feature. `scratch` is memory of one thread, NULL at
/// first.
typedef struct wall_visitor {
    const void* user;
    bool balls; ///< balls too, not only solids
    talus_status (*meet)(const void* user, const wall_approach* at, void** scratch,
                         uint8_t* escaped, contacts* out);
    void (*free_scratch)(void* scratch);
} wall_visitor;

/// The bodies a search works on, and how far and how fast they move. Nothing is owned.
typedef struct narrow {
    const grains* g;
    const walls* w;
    const cell* periodic;
    const poses* poses;        ///< of the grains as they stand
    const double* margin;      ///< [grains] how far each may move, beyond the common velocity
    const double* wall_margin; ///< [walls] how far a wall may move beyond its own velocity
    double range;              ///< of bonds: contacts beyond the margins are marked distant
    const double* velocity;    ///< [grains][dim] without contacts
    const double* spin;        ///< [grains][1 or 3] without contacts
    double drift[3];           ///< the common velocity
    double h;
    const contacts* last;        ///< of the last step, sorted: which features touched
    int threads;                 ///< the contacts found do not depend on it
    const wall_visitor* visitor; ///< NULL, or who meets walls in its own way
    const uint8_t* far;          ///< [grains] 1: surely out of reach of all walls; NULL: not known
    bool direct; ///< one thread appends contacts with walls where they belong, and what
                 ///< narrow_append() does not write the caller does
} narrow;

/// How far two parts overlap.
typedef struct parts_overlap {
    bool known;
    int32_t a, b; ///< grains
    int part_a, part_b;
    double overlap;
} parts_overlap;

/// Memory of one thread that looks for contacts, while bodies stand still.
typedef struct narrow_scratch {
    double* turned; ///< corners and normals of one part in a wall's frame
    int64_t turned_capacity;
    touch_list touches;
    void* visiting;           ///< of a visitor, who frees it
    parts_overlap last_parts; ///< that narrow_overlap() looked at: most have several contacts
} narrow_scratch;

void narrow_scratch_free(narrow_scratch* s);

/// Append the contacts of all free grains with all present walls, walls in descending index so that
/// the list stays sorted. A wall's own motion in the step widens the search by as much. Sets
/// escaped[row] = 1 for a grain whose centre is behind a wall's surface.
talus_status narrow_walls(const narrow* n, uint8_t* escaped, contacts* out);
/// Fill far[grains]: 1 for a grain that is out of reach of every wall by `margin` more.
void narrow_far(const narrow* n, double margin, uint8_t* far);
/// Append the contacts of the pairs of grains whose gap is at most the sum of their margins and the
/// range.
talus_status narrow_pairs(const narrow* n, const pair_list* pairs, contacts* out);

/// Gap of a contact's features as the bodies stand now (`poses` too). Features of solids may
/// overlap where the bodies do not: where they do by more than `tolerance` the bodies are looked
/// at.
double narrow_gap(const grains* g, const walls* w, const cell* periodic, const poses* p,
                  narrow_scratch* scratch, const contacts* list, int64_t c, double tolerance);
/// How far they overlap, -narrow_gap(), and 0 where they do not.
double narrow_overlap(const grains* g, const walls* w, const cell* periodic, const poses* p,
                      narrow_scratch* scratch, const contacts* list, int64_t c, double tolerance);

// ---- one file each -----------------------------------------------------------------------------

/// Gap between two balls with the normal from a to b (nearest image).
double ball_ball_gap(const grains* g, const cell* periodic, int64_t a, int64_t b, double normal[3]);
/// The pairs of balls among [first, end) that are in contact, as offsets from `first` in ascending
/// order in `kept`; returns how many.
int64_t ball_ball_keep(const narrow* n, const pair_list* pairs, int64_t first, int64_t end,
                       uint16_t* kept);
/// Write the contacts of these pairs into the rows of `out` from `at` on.
void ball_ball_fill(const narrow* n, const pair_list* pairs, int64_t first, const uint16_t* kept,
                    int64_t count, contacts* out, int64_t at);
/// The same for one pair, at the end of `out`.
talus_status ball_ball_contact(const narrow* n, int64_t a, int64_t b, contacts* out);
/// Contacts of two grains of which at least one is a solid; `cursor` walks along n->last.
talus_status solid_solid_contacts(const narrow* n, int64_t a, int64_t b, contacts_cursor* cursor,
                                  contacts* out);
/// Gap at a contact of solids as they stand now. A corner may have left the face it stood on, and
/// features overlap where bodies do not: an overlap above `tolerance` of features whose contact
/// point is not inside both bodies is measured between the bodies.
double solid_solid_gap(const grains* g, const cell* periodic, const poses* p, const contacts* list,
                       int64_t c, double tolerance);
/// The overlap, 0 if there is none.
double solid_solid_overlap(const grains* g, const cell* periodic, const poses* p,
                           parts_overlap* last, const contacts* list, int64_t c, double tolerance);

/// A grain near one image of a wall.
struct wall_approach {
    int64_t grain;
    int wall;
    double local[3]; ///< grain's centre in the wall's frame
    int image;       ///< its number in a contact's feature
    double near;     ///< gap up to which contacts count
    double reach;    ///< gap up to which they are listed: `near` and the range of bonds
};

/// Contacts of a solid with a wall, or of a ball with a wall that is a solid or a mesh.
talus_status solid_wall_contacts(const narrow* n, const wall_approach* at, narrow_scratch* scratch,
                                 contacts_cursor* cursor, uint8_t* escaped, contacts* out);
/// Gap of the features of a contact whose normal was `normal`.
double solid_wall_gap(const grains* g, const walls* w, const wall_approach* at,
                      narrow_scratch* scratch, int64_t feature, const double* normal);
/// Contacts of balls and walls, and the images of walls in a periodic cell: ball_wall.c.
double ball_wall_gap(const grains* g, const walls* w, const cell* periodic, int wall,
                     int64_t feature, int64_t b);
/// Where a grain is in the frame of an image of a wall.
void wall_image_local(const grains* g, const walls* w, const cell* periodic, int wall, int image,
                      int64_t grain, double local[3]);

/// Lists that were made side by side, one for each chunk of a fixed size.
typedef struct narrow_chunk {
    contacts list;
    int64_t first; ///< its place in the list of all
    bool failed;   ///< memory was short
} narrow_chunk;

/// Append all lists to `out`, in order, and free them.
talus_status narrow_join(narrow_chunk* chunks, int64_t count, int threads, contacts* out);

/// Append a contact and fill its bodies, gap, normal and feature; the point, the arm of solids and
/// what is carried over are the caller's. -1 when memory is short.
int64_t narrow_append(const grains* g, contacts* out, int64_t a_row, int64_t b_row, int64_t feature,
                      double gap, const double* normal, bool distant);

#endif
