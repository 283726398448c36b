/// grains.xdmf2, contacts.xdmf2, walls.xdmf2 and solids.xdmf2: tell ParaView how to read frames.h5,
/// with nothing converted. Each is one grid over time.
///
/// They are for ParaView's "XDMF Reader" (version 2 of XDMF), which alone claims files of this
/// ending, so that ParaView opens them without a question. It numbers the points of vertices and
/// lines itself and pads plane vectors by a zero; the readers of version 3 do neither. What it
/// cannot do is a grid without any points: a grid without cells has those of the grains, and one
/// without grains a point of its own, of radius 0.
#include "base/error.h"
#include "detect/contacts.h"
#include "record/files.h"
#include "record/frames.h"
#include "state/grains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void begin_attribute(text_buffer* t, const char* name, int width, const char* center)
{
    const char* kind = width == 1 ? "Scalar" : width <= 3 ? "Vector" : "Matrix";
    text_add(t, "   <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"%s\">", name, kind,
             center);
}

static void add_item(text_buffer* t, int64_t frame, const char* group, const char* name,
                     column_type type, int64_t rows, int width)
{
    static const char* const types[] = {[COLUMN_F64] = "Float\" Precision=\"8",
                                        [COLUMN_I64] = "Int\" Precision=\"8",
                                        [COLUMN_I32] = "Int\" Precision=\"4",
                                        [COLUMN_U8] = "UChar\" Precision=\"1"};
    text_add(t, "<DataItem Format=\"HDF\" NumberType=\"%s\" Dimensions=\"%lld", types[type],
             (long long)rows);
    if (width > 1) text_add(t, " %d", width);
    text_add(t, "\">frames.h5:/frames/%06lld/%s/%s</DataItem>", (long long)frame, group, name);
}

/// A row of zeros.
static void add_zeros(text_buffer* t, int width)
{
    text_add(t,
             "<DataItem Format=\"XML\" NumberType=\"Float\" Precision=\"8\" Dimensions=\"1 %d\">",
             width);
    for (int k = 0; k < width; k++) text_add(t, "0 ");
    text_add(t, "</DataItem>");
}

static void begin_geometry(text_buffer* t, int width)
{
    text_add(t, "   <Geometry GeometryType=\"%s\">", width == 2 ? "XY" : "XYZ");
}

/// Points at the grains, or one if there are none.
static void add_grain_points(text_buffer* t, const frames* f, int64_t i)
{
    const int64_t rows = f->entry[i].grains;
    begin_geometry(t, rows > 0 ? f->dim : 3);
    if (rows > 0) add_item(t, i, "grains", "position", COLUMN_F64, rows, f->dim);
    if (rows == 0) add_zeros(t, 3);
    text_add(t, "</Geometry>\n");
}

/// A grid that shows nothing.
static void add_nothing(text_buffer* t, const frames* f, int64_t i)
{
    text_add(t, "   <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"0\" "
                "NodesPerElement=\"1\"/>\n");
    add_grain_points(t, f, i);
}

/// The dataset of what is drawn in frame i, as an item.
static void add_drawn(text_buffer* t, const frames* f, int64_t i, drawn_index set)
{
    const drawn_place place = f->entry[i].drawn[set];
    add_item(t, place.frame, DRAWING_GROUP, drawn_sets[set].name, drawn_sets[set].type, place.rows,
             drawn_width(set, f->dim));
}

/// One attribute for each recorded column of a table, those of grains under the names that exports
/// have: the radius of the ball around a solid is its bounding_radius.
static void add_columns(text_buffer* t, const frames* f, int64_t i, const char* table,
                        const column* cols, int col_count, int64_t rows, const char* center)
{
    const bool of_grains = strcmp(table, "grains") == 0;
    const bool with_solids = f->entry[i].drawn[DRAWN_RADIUS].frame >= 0;
    for (int c = 0; c < col_count; c++) {
        const char* name = cols[c].name;
        if (!frame_records(&cols[c], f->options)) continue;
        if (of_grains && strcmp(name, "position") == 0) continue; // the points
        if (of_grains && with_solids && strcmp(name, "radius") == 0) name = "bounding_radius";
        const int width = column_row_width(&cols[c], f->dim);
        begin_attribute(t, name, width, center);
        if (rows > 0) add_item(t, i, table, cols[c].name, cols[c].type, rows, width);
        if (rows == 0) add_zeros(t, width);
        text_add(t, "</Attribute>\n");
    }
}

// ---- the four tables ---------------------------------------------------------------------------

static void add_grains(text_buffer* t, const frames* f, int64_t i)
{
    const int64_t rows = f->entry[i].grains;
    int count;
    const column* cols = grains_columns(&count);
    text_add(t,
             "   <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%lld\" "
             "NodesPerElement=\"1\"/>\n",
             (long long)rows);
    add_grain_points(t, f, i);
    add_columns(t, f, i, "grains", cols, count, rows, "Node");
    if (f->entry[i].drawn[DRAWN_RADIUS].frame < 0) return;
    begin_attribute(t, drawn_sets[DRAWN_RADIUS].field, 1, "Node");
    if (rows > 0) add_drawn(t, f, i, DRAWN_RADIUS);
    if (rows == 0) add_zeros(t, 1);
    text_add(t, "</Attribute>\n");
}

static void add_contacts(text_buffer* t, const frames* f, int64_t i)
{
    const int64_t rows = f->entry[i].contacts;
    int count;
    const column* cols = contacts_columns(&count);
    if (rows <= 0) {
        add_nothing(t, f, i);
        return;
    }
    text_add(t,
             "   <Topology TopologyType=\"Polyline\" NumberOfElements=\"%lld\" "
             "NodesPerElement=\"2\"/>\n",
             (long long)rows);
    begin_geometry(t, 3);
    add_item(t, i, "contacts", FRAME_SEGMENT, COLUMN_F64, 2 * rows, 3);
    text_add(t, "</Geometry>\n");
    add_columns(t, f, i, "contacts", cols, count, rows, "Cell");
}

/// Points, cells and the fields on these: datasets [first, end).
static void add_surface(text_buffer* t, const frames* f, int64_t i, drawn_index first,
                        drawn_index end)
{
    const drawn_place owner = f->entry[i].drawn[first + 2];
    if (owner.frame < 0 || owner.rows == 0) {
        add_nothing(t, f, i);
        return;
    }
    text_add(t, "   <Topology TopologyType=\"Mixed\" NumberOfElements=\"%lld\">",
             (long long)owner.rows);
    add_drawn(t, f, i, first + 1);
    text_add(t, "</Topology>\n");
    begin_geometry(t, 3);
    add_drawn(t, f, i, first);
    text_add(t, "</Geometry>\n");
    for (drawn_index set = first + 2; set < end; set++) {
        begin_attribute(t, drawn_sets[set].field, drawn_width(set, f->dim), "Cell");
        add_drawn(t, f, i, set);
        text_add(t, "</Attribute>\n");
    }
}

static void add_walls(text_buffer* t, const frames* f, int64_t i)
{
    add_surface(t, f, i, DRAWN_WALL_POINTS, DRAWN_SOLID_POINTS);
}

static void add_solids(text_buffer* t, const frames* f, int64_t i)
{
    add_surface(t, f, i, DRAWN_SOLID_POINTS, DRAWN_RADIUS);
}

// ---- files -------------------------------------------------------------------------------------

typedef struct xdmf_table {
    const char* name;
    void (*add)(text_buffer* t, const frames* f, int64_t i);
    drawn_index needs; ///< what one of the frames must have; DRAWN_SETS: nothing
} xdmf_table;

static const xdmf_table tables[] = {{"grains", add_grains, DRAWN_SETS},
                                    {"contacts", add_contacts, DRAWN_SETS},
                                    {"walls", add_walls, DRAWN_WALL_POINTS},
                                    {"solids", add_solids, DRAWN_SOLID_POINTS}};

static bool is_wanted(const xdmf_table* table, const frames* f, int64_t count)
{
    if (table->add == add_contacts && !f->options.contacts) return false;
    // What a run has not from the start it may have later.
    return count > 0 &&
           (table->needs == DRAWN_SETS || f->entry[count - 1].drawn[table->needs].frame >= 0);
}

static talus_status write_file(const xdmf_table* table, const frames* f, int64_t count,
                               const char* path, talus_error* error)
{
    text_buffer t = {0};
    text_add(&t,
             "<?xml version=\"1.0\" ?>\n<Xdmf Version=\"2.0\">\n<Domain>\n"
             " <Grid Name=\"%s\" GridType=\"Collection\" CollectionType=\"Temporal\">\n",
             table->name);
    for (int64_t i = 0; i < count; i++) {
        text_add(&t, "  <Grid Name=\"%s\" GridType=\"Uniform\">\n   <Time Value=\"%.17g\"/>\n",
                 table->name, f->entry[i].time);
        table->add(&t, f, i);
        text_add(&t, "  </Grid>\n");
    }
    text_add(&t, " </Grid>\n</Domain>\n</Xdmf>\n");
    talus_status status =
        t.failed ? error_memory(error, path) : files_replace(path, t.data, t.size, true, error);
    text_free(&t);
    return status;
}

talus_status xdmf_write(const frames* f, int64_t count, talus_error* error)
{
    talus_status status = TALUS_OK;
    for (size_t k = 0; k < sizeof tables / sizeof *tables && status == TALUS_OK; k++) {
        char* path = files_text("%s/%s.xdmf2", f->directory, tables[k].name);
        if (!path) {
            status = error_memory(error, "a file name");
        } else if (is_wanted(&tables[k], f, count)) {
            status = write_file(&tables[k], f, count, path, error);
        } else if (unlink(path) != 0 && errno != ENOENT) {
            status = files_error(error, "remove", path);
        }
        free(path);
    }
    return status;
}
