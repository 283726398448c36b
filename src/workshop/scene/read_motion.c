/// The motion of a wall: in its own section, or set anew by a phase.
#include "base/vec.h"
#include "scene/model.h"

/// Rows of time, velocity and (if the first row has it) spin.
static void read_table(section* s, int dim, talus_drive_def* drive)
{
    if (!section_has(s, "rows")) {
        if (section_misspells(s, "rows")) return;
        section_mistake(s, NULL, "rows: is missing (expected a list of %s)",
                        dim == 2 ? "[t, vx, vy, spin]" : "[t, vx, vy, vz, wx, wy, wz]");
        return;
    }
    int rows, width = 0;
    const double* from = read_rows(s, "rows", &rows, &width);
    const bool brief = width == 1 + dim;
    double* table = arena_take(s->r->a, sizeof(double) * 7 * (size_t)(rows + 1));
    if (!from || !table) return;
    for (int i = 0; i < rows; i++) {
        const double* row = from + (size_t)width * (size_t)i;
        double* out = table + 7 * (size_t)i;
        for (int k = 0; k <= dim; k++) out[k] = row[k];
        if (!brief && dim == 2) out[6] = row[3];
        if (!brief && dim == 3) vec_copy(3, out + 4, row + 4);
        if (i > 0 && !(out[0] > out[-7])) {
            mistakes_add(s->r->mistakes, read_place(s, "rows", i), section_path(s, "rows"),
                         "row %d is not later than the row before (expected ascending times)", i);
        }
    }
    drive->table = table;
    drive->table_rows = rows;
}

/// A wall that a force moves is free along the axes with a force, unless it says which.
static void check_free_axes(section* s, int dim, talus_drive_def* drive)
{
    const bool named = section_got(s, "free");
    bool any = named && node_find(s->out, "free")->count > 0;
    for (int k = 0; !named && k < dim; k++) {
        drive->free_axes[k] = drive->force[k] != 0.0;
        any = any || drive->free_axes[k];
    }
    if (!any) {
        section_mistake(s, NULL,
                        "the wall cannot move: no force and no free axis (expected "
                        "free: [x], say)");
    }
}

/// spans: [[wall, wall], ...]: the distances between pairs of walls multiply to the area.
static void read_spans(talus_scene* scene, section* s, talus_drive_def* drive)
{
    const node* in = node_find(s->in, "spans");
    node* out = node_make(s->r->a, NODE_LIST, (place){0});
    const int most = (int)section_row(s, "spans", KEY_PAIRS)->most;
    if (in->kind != NODE_LIST || in->count != most) {
        section_mistake(s, "spans",
                        "needs %d pair%s of walls in dimension %d (expected "
                        "[[wall, wall]%s])",
                        most, most == 1 ? "" : "s", scene->world.dim,
                        most == 1 ? "" : ", [wall, wall]");
        return;
    }
    for (int i = 0; i < in->count; i++) {
        const node* pair = in->item[i];
        node* names = node_make(s->r->a, NODE_LIST, (place){0});
        bool good = pair->kind == NODE_LIST && pair->count == 2;
        for (int j = 0; good && j < 2; j++) good = pair->item[j]->kind == NODE_SCALAR;
        if (!good) {
            mistakes_add(s->r->mistakes, pair->at, section_path(s, "spans"),
                         "is not a pair (expected [wall, wall])");
            continue;
        }
        for (int j = 0; j < 2; j++) {
            drive->span_wall[i][j].index = section_find_name(
                s, "spans", i, "wall", pair->item[j]->text, scene->wall_names, scene->wall_count);
            node_append(s->r->a, names, node_scalar(s->r->a, pair->item[j]->text, true));
        }
        if (names) names->flow = true;
        node_append(s->r->a, out, names);
    }
    drive->span_count = in->count;
    node_put(s->r->a, s->out, "spans", (place){0}, out);
}

/// What a servo pushes along, and on which area.
static void finish_servo(talus_scene* scene, section* s, talus_drive_def* drive)
{
    if (section_got(s, "axis")) {
        double norm = vec_norm(3, drive->servo_axis);
        if (!(norm > 0.0)) section_mistake(s, "axis", "has no direction (expected a vector)");
        for (int k = 0; norm > 0.0 && k < 3; k++) drive->servo_axis[k] /= norm;
    }
    bool area = section_has(s, "area"), spans = section_has(s, "spans");
    if (spans) read_spans(scene, s, drive);
    if (area == spans && !s->broken) {
        section_mistake(s, area ? "area" : NULL,
                        "a servo needs the area its stress acts on (expected either area or "
                        "spans)");
    }
}

void read_motion(talus_scene* scene, section* s, bool given, int self, talus_drive_def* drive)
{
    *drive = talus_drive_default();
    int type = read_choice_or(s, "type", given && !s->broken ? -1 : 0);
    drive->kind = type < 0 ? TALUS_DRIVE_FIXED : (talus_drive_kind)type;
    if (type == TALUS_DRIVE_TABLE) read_table(s, scene->world.dim, drive);
    if (type >= 0) section_fill(s, talus_drive_def, drive);
    drive->has_pivot = section_got(s, "pivot");
    if (type == TALUS_DRIVE_FORCE) check_free_axes(s, scene->world.dim, drive);
    if (type == TALUS_DRIVE_SERVO) finish_servo(scene, s, drive);
    for (int i = 0; i < drive->span_count; i++) {
        if (drive->span_wall[i][0].index != self && drive->span_wall[i][1].index != self) continue;
        section_mistake(s, "spans",
                        "names the wall itself, whose distances do not span its own "
                        "area (expected the walls beside it)");
    }
    if (type >= 0) section_close(s);
}

void check_motion(talus_scene* scene, place at, const char* path, const talus_drive_def* drive)
{
    for (int i = 0; i < drive->span_count; i++) {
        for (int j = 0; j < 2; j++) {
            int wall = drive->span_wall[i][j].index;
            if (wall < 0 || scene->walls[wall].def.shape.kind == TALUS_SHAPE_PLANE) continue;
            mistakes_add(&scene->mistakes, at, path,
                         "motion.spans: wall '%s' is not a plane (expected planes)",
                         scene->wall_names[wall]);
        }
    }
}
