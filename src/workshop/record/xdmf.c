/// frames.xdmf: tells ParaView how to read frames.h5, with nothing converted.
///
/// A temporal collection of spatial collections: "grains" as vertices, "contacts" as lines. Tried
/// with the three readers of ParaView 5.11. What they need: an explicit connectivity even for
/// vertices (Xdmf3), no empty grids (Xdmf2 complains), and no functions such as JOIN (each reader
/// has its own syntax). Plane vectors are given as they are: Xdmf2 pads them to three components.
#include "record/frames.h"

#include "base/error.h"
#include "detect/contacts.h"
#include "record/files.h"
#include "state/grains.h"

#include <stdlib.h>
#include <string.h>

static void add_item(text_buffer* t, int64_t frame, const char* table, const char* name,
                     column_type type, int64_t rows, int width)
{
    static const char* const types[] = {[COLUMN_F64] = "NumberType=\"Float\" Precision=\"8\"",
                                        [COLUMN_I64] = "NumberType=\"Int\" Precision=\"8\"",
                                        [COLUMN_I32] = "NumberType=\"Int\" Precision=\"4\"",
                                        [COLUMN_U8] = "NumberType=\"UChar\" Precision=\"1\""};
    text_add(t, "<DataItem Format=\"HDF\" %s Dimensions=\"%lld", types[type], (long long)rows);
    if (width > 1) text_add(t, " %d", width);
    text_add(t, "\">frames.h5:/frames/%06lld/%s/%s</DataItem>", (long long)frame, table, name);
}

/// One attribute per recorded column, except the one that is the geometry already.
static void add_attributes(text_buffer* t, const frames* f, int64_t frame, const char* table,
                           const column* cols, int col_count, int64_t rows, const char* center,
                           const char* geometry)
{
    const int dim = f->dim;
    for (int c = 0; c < col_count; c++) {
        if (!frame_records(&cols[c], f->options) || strcmp(cols[c].name, geometry) == 0) continue;
        int width = column_row_width(&cols[c], dim);
        const char* kind = width == 1 ? "Scalar" : width <= 3 ? "Vector" : "Matrix";
        text_add(t, "    <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"%s\">", cols[c].name,
                 kind, center);
        add_item(t, frame, table, cols[c].name, cols[c].type, rows, width);
        text_add(t, "</Attribute>\n");
    }
}

static void add_grid(text_buffer* t, int64_t frame, const char* table, const char* topology,
                     int64_t elements, int nodes, const char* geometry, const char* geometry_type,
                     int geometry_width)
{
    text_add(t,
             "   <Grid Name=\"%s\" GridType=\"Uniform\">\n    <Topology TopologyType=\"%s\" "
             "NumberOfElements=\"%lld\" NodesPerElement=\"%d\">",
             table, topology, (long long)elements, nodes);
    add_item(t, frame, table, FRAMES_CONNECTIVITY, COLUMN_I64, elements * nodes, 1);
    text_add(t, "</Topology>\n    <Geometry GeometryType=\"%s\">", geometry_type);
    add_item(t, frame, table, geometry, COLUMN_F64, elements * nodes, geometry_width);
    text_add(t, "</Geometry>\n");
}

static void add_frame(text_buffer* t, const frames* f, int64_t i)
{
    const frame_entry* e = &f->entry[i];
    int count;
    text_add(t,
             "  <Grid Name=\"frame\" GridType=\"Collection\" CollectionType=\"Spatial\">\n"
             "   <Time Value=\"%.17g\"/>\n",
             e->time);
    if (e->grains > 0) {
        const column* cols = grains_columns(&count);
        add_grid(t, i, "grains", "Polyvertex", e->grains, 1, "position", f->dim == 2 ? "XY" : "XYZ",
                 f->dim);
        add_attributes(t, f, i, "grains", cols, count, e->grains, "Node", "position");
        text_add(t, "   </Grid>\n");
    }
    if (e->contacts > 0) {
        const column* cols = contacts_columns(&count);
        add_grid(t, i, "contacts", "Polyline", e->contacts, 2, FRAME_SEGMENT, "XYZ", 3);
        add_attributes(t, f, i, "contacts", cols, count, e->contacts, "Cell", "");
        text_add(t, "   </Grid>\n");
    }
    text_add(t, "  </Grid>\n");
}

talus_status xdmf_write(const frames* f, int64_t count, talus_error* error)
{
    text_buffer t = {0};
    text_add(&t, "<?xml version=\"1.0\" ?>\n<Xdmf Version=\"3.0\">\n<Domain>\n"
                 " <Grid Name=\"talus\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int64_t i = 0; i < count; i++) add_frame(&t, f, i);
    text_add(&t, " </Grid>\n</Domain>\n</Xdmf>\n");
    char* path = files_text("%s/frames.xdmf", f->directory);
    talus_status status = !t.failed && path ? files_replace(path, t.data, t.size, true, error)
                                            : error_memory(error, "frames.xdmf");
    free(path);
    text_free(&t);
    return status;
}
