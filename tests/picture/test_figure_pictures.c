/// Pictures of worlds in figures: grains, forces and walls of every kind are where their numbers
/// say, however far they go on beyond the axes.
#include "figure_image.h"
#include "physics.h"
#include "picture/figure.h"

/// The picture of a world between -3 and 3, which is destroyed; x, y: the axis is reversed.
static image picture_of(talus_world* world, bool x, bool y)
{
    talus_figure* figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    axes.x_low = x ? 3.0 : -3.0, axes.x_high = -axes.x_low;
    axes.y_low = y ? 3.0 : -3.0, axes.y_high = -axes.y_low;
    set_axes(figure, axes);
    const talus_picture_def def = talus_picture_default();
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    talus_world_destroy(world);
    return write_and_read(figure);
}

/// Colour at a place of such a picture.
static unsigned seen_at(const image* m, double x, double y)
{
    return colour_at(m, (x + 3.0) / 6.0, (y + 3.0) / 6.0);
}

/// A line of a wall passes within a pixel of this place.
static bool line_at(const image* m, double x, double y)
{
    const double pixel_size = 6.0 / (m->right - m->left);
    for (int i = -1; i <= 1; i++) {
        for (int k = -1; k <= 1; k++) {
            if (is_dark(seen_at(m, x + i * pixel_size, y + k * pixel_size))) return true;
        }
    }
    return false;
}

static talus_wall_def wall_of(talus_shape_kind kind, const char* name, double x, double y, double z)
{
    talus_wall_def def = talus_wall_default();
    def.name = name;
    def.shape.kind = kind;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    return def;
}

// ---- grains and forces -------------------------------------------------------------------------

/// The same colour, but for the rounding to bytes.
static void check_colour(unsigned seen, rgb expected)
{
    assert_true(fabs((seen >> 16) / 255.0 - expected.red) < 0.01);
    assert_true(fabs((seen >> 8 & 255) / 255.0 - expected.green) < 0.01);
    assert_true(fabs((seen & 255) / 255.0 - expected.blue) < 0.01);
}

/// Two disks on a floor, one coloured by the lower, one by the upper end of the scale.
static void test_picture_of_disks(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, -10, 0);
    physics_plane(world, "floor", 0, 1, 0);
    talus_grain_def disk = physics_ball(0.5, 1.0, 0, 0.5, 0);
    physics_add(world, &disk);
    disk.position[0] = 2.0;
    physics_add(world, &disk);
    for (int i = 0; i < 3; i++) physics_step(world, 1e-3);
    const double value[] = {0.0, 1.0};
    talus_picture_def def = talus_picture_default();
    def.value = value;
    def.value_label = "value";
    talus_figure* figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    axes.x_low = -1.0, axes.x_high = 3.0, axes.y_low = -0.5, axes.y_high = 1.5;
    set_axes(figure, axes);
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    image m = write_and_read(figure);
    // The scale of colours stands right of the frame, dark at its left and right side too.
    const double frame = 2.0 * (m.bottom - m.top); // the axes are twice as long as high
    m.right = m.left + (int)lround(frame);
    check_colour(colour_at(&m, 0.25, 0.5), colour_of_map(TALUS_MAP_VIRIDIS, 0.0));
    check_colour(colour_at(&m, 0.75, 0.5), colour_of_map(TALUS_MAP_VIRIDIS, 1.0));
    assert_int_equal(colour_at(&m, 0.5, 0.5), 0xffffff);
    assert_true(is_dark(colour_at(&m, 0.5, 0.25))); // the floor
    cairo_surface_destroy(m.surface);
    talus_world_destroy(world);
}

/// Colours of one's own for grains: a light shade of the palette, and no scale beside them.
static void test_picture_of_own_colours(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
    const talus_grain_def disk = physics_ball(0.5, 1.0, 0, 0, 0);
    physics_add(world, &disk);
    int colour[] = {TALUS_COLOUR_BLUE};
    talus_picture_def def = talus_picture_default();
    def.grain_colour = colour;
    talus_figure* figure = new_figure();
    const picture* made = &figure->panel[0].picture;
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    const rgb light = colour_mix(colour_of_palette(TALUS_COLOUR_BLUE), (rgb){1.0, 1.0, 1.0}, 0.5);
    assert_true(memcmp(&made->piece[0].colour, &light, sizeof light) == 0);
    assert_false(made->scaled);
    colour[0] = 8;
    assert_int_equal(talus_figure_world(figure, 0, world, &def, &error), TALUS_ERR_ARGUMENT);
    talus_figure_destroy(figure);
    talus_world_destroy(world);
}

/// The force between a disk and the floor is a bar from the contact to the centre.
static void test_picture_of_forces(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, -10, 0);
    physics_plane(world, "floor", 0, 1, 0);
    talus_grain_def disk = physics_ball(0.5, 1.0, 0, 0.5, 0);
    physics_add(world, &disk);
    for (int i = 0; i < 3; i++) physics_step(world, 1e-3);
    talus_picture_def def = talus_picture_default();
    def.forces = true;
    for (int own = 0; own < 2; own++) {
        const int colour[] = {TALUS_COLOUR_BLUE};
        def.force_colour = own ? colour : NULL;
        talus_figure* figure = new_figure();
        talus_axes_def axes = talus_axes_default();
        axes.x_low = -1.0, axes.x_high = 1.0, axes.y_low = -0.5, axes.y_high = 1.5;
        set_axes(figure, axes);
        talus_error error;
        check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
        image m = write_and_read(figure);
        const unsigned expected = own ? blue : vermillion;
        assert_int_equal(colour_at(&m, 0.5, 0.40), expected);
        assert_int_equal(colour_at(&m, 0.57, 0.40), expected); // 0.4 of a diameter wide
        assert_true(colour_at(&m, 0.63, 0.40) != expected);
        cairo_surface_destroy(m.surface);
    }
    talus_world_destroy(world);
}

/// A bar is as wide as a disk of the grain's area says, not as the disk around it; forces on grains
/// that are left out do not widen the others.
static void test_widths_of_forces(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, -10, 0);
    physics_plane(world, "floor", 0, 1, 0);
    const talus_solid_id shape = physics_box_solid(world, "brick", 2, 2.0, 0.5, 0.0);
    for (int i = 0; i < 2; i++) {
        talus_grain_def brick = physics_ball(0.5, 1.0, 5.0 * i, 0.25, 0);
        brick.solid = shape;
        brick.density = i == 0 ? 1.0 : 100.0;
        physics_add(world, &brick);
    }
    for (int i = 0; i < 3; i++) physics_step(world, 1e-3);
    const uint8_t hidden[] = {0, 1};
    talus_picture_def def = talus_picture_default();
    def.forces = true;
    def.hidden = hidden;
    talus_figure* figure = new_figure();
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    const picture* made = &figure->panel[0].picture;
    const double disk = 2.0 * sqrt(2.0 * 0.5 / M_PI);
    check_close("widest bar", made->force_size, 0.4 * disk, 1e-12, "rounding");
    // The light brick presses with its weight, 10 N, on its two lower corners.
    check_close("its force", made->force, 5.0, 0.05, "the solver's tolerance, and three steps");
    talus_figure_destroy(figure);
    talus_world_destroy(world);
}

/// Two halves of a square in 2D: an edge around them, none where they meet.
static void test_parts_of_a_grain(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
    const double points[] = {-1, -1, 0, -1, 0, 1, -1, 1, 0, -1, 1, -1, 1, 1, 0, 1};
    const int sizes[] = {4, 4};
    talus_solid_def solid = talus_solid_default();
    solid.name = "halves";
    solid.points = points, solid.point_count = 8;
    solid.part_sizes = sizes, solid.part_count = 2;
    talus_solid_id shape;
    talus_error error;
    check_ok(talus_world_add_solid(world, &solid, &shape, &error), error);
    talus_grain_def grain = physics_ball(0.5, 1.0, 0, 0, 0);
    grain.solid = shape;
    physics_add(world, &grain);
    talus_figure* figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    axes.x_low = axes.y_low = -2.0, axes.x_high = axes.y_high = 2.0;
    set_axes(figure, axes);
    const talus_picture_def def = talus_picture_default();
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    image m = write_and_read(figure);
    const unsigned inside = colour_at(&m, 0.4, 0.5);
    for (int k = -3; k <= 3; k++) assert_int_equal(colour_at(&m, 0.5 + 0.002 * k, 0.45), inside);
    bool edge = false;
    for (int k = -6; k <= 6; k++) {
        const unsigned seen = colour_at(&m, 0.75 + 0.002 * k, 0.5);
        edge = edge || (seen & 0xff) + 0x20 < (inside & 0xff);
    }
    assert_true(edge);
    cairo_surface_destroy(m.surface);
    talus_world_destroy(world);
}

/// The nearer ball hides the other one, from each side.
static void test_picture_of_balls(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(3, 0.5, 0, 0, 0);
    const double value[] = {0.0, 1.0};
    for (int i = 0; i < 2; i++) {
        talus_grain_def ball = physics_ball(0.5, 1.0, 0, 0, 0);
        ball.position[1] = 2.0 * i;
        physics_add(world, &ball);
    }
    talus_picture_def def = talus_picture_default();
    def.value = value;
    talus_figure* figure = new_figure();
    panel* p = &figure->panel[0];
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    assert_int_equal(p->picture.piece_count, 2);
    // Looking along y the ball at y = 0 is nearer: drawn last, and not faded.
    const rgb front = colour_of_map(TALUS_MAP_VIRIDIS, 0.0);
    assert_true(memcmp(&p->picture.piece[1].colour, &front, sizeof front) == 0);
    def.view = 2; // from above both are seen
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    check_close("extent", p->picture.y.high - p->picture.y.low, 3.0, 1e-12, "rounding");
    talus_figure_destroy(figure);
    talus_world_destroy(world);
}

/// A square that stands on a corner, and a block seen from the side: corners and colours.
static void test_picture_of_solids(void** state)
{
    (void)state;
    const rgb colour = {0.80, 0.84, 0.88};
    talus_world* flat = physics_world_g(2, 0.5, 0, 0, 0);
    talus_grain_def square =
        physics_block(physics_box_solid(flat, "square", 2, 2.0, 2.0, 0.0), 1.0, 0.0, 0.0);
    square.rotation[2] = 0.25 * M_PI;
    physics_add(flat, &square);
    image m = picture_of(flat, false, false);
    check_colour(seen_at(&m, 1.0, 0.0), colour);
    check_colour(seen_at(&m, 1.0, 1.3), colour);
    check_colour(seen_at(&m, 2.3, 0.0), colour);
    assert_int_equal(seen_at(&m, 1.8, 0.8), 0xffffff); // a corner, were it not turned
    assert_int_equal(seen_at(&m, 1.0, 1.5), 0xffffff);
    cairo_surface_destroy(m.surface);

    talus_world* deep = physics_world_g(3, 0.5, 0, 0, 0);
    const talus_solid_id block = physics_box_solid(deep, "block", 3, 4.0, 1.0, 2.0);
    const talus_grain_def grain = physics_block(block, 0.0, 0.0, 1.0);
    physics_add(deep, &grain);
    m = picture_of(deep, false, false);
    check_colour(seen_at(&m, 1.9, 0.1), colour);
    check_colour(seen_at(&m, -1.9, 1.9), colour);
    assert_int_equal(seen_at(&m, 0.0, -0.1), 0xffffff);
    assert_int_equal(seen_at(&m, 2.1, 1.0), 0xffffff);
    cairo_surface_destroy(m.surface);
}

/// Values that differ by less than doubles can divide are one value to the scale of colours.
static void test_shortest_scale(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
    const double value[] = {0.0, 1e-310};
    for (int i = 0; i < 2; i++) {
        const talus_grain_def disk = physics_ball(0.5, 1.0, 2.0 * i, 0, 0);
        physics_add(world, &disk);
    }
    talus_picture_def def = talus_picture_default();
    def.value = value;
    talus_figure* figure = new_figure();
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    const picture* seen = &figure->panel[0].picture;
    check_close("length of the scale", seen->value.high - seen->value.low, 1.0, 1e-12, "rounding");
    for (int i = 0; i < 2; i++) {
        const rgb middle = colour_of_map(TALUS_MAP_VIRIDIS, 0.5), colour = seen->piece[i].colour;
        assert_true(memcmp(&colour, &middle, sizeof colour) == 0);
    }
    cairo_surface_destroy(write_and_read(figure).surface);
    talus_world_destroy(world);
}

// ---- walls -------------------------------------------------------------------------------------

/// What reaches a thousand times as far as the axes keeps its slope: a segment, the sides of a box,
/// and a grain.
static void test_far_lines_keep_their_slope(void** state)
{
    (void)state;
    enum { SEGMENT, BOX, GRAIN };
    const double c = cos(M_PI / 6.0), s = sin(M_PI / 6.0);
    for (int kind = SEGMENT; kind <= GRAIN; kind++) {
        talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
        talus_wall_def wall =
            wall_of(kind == SEGMENT ? TALUS_SHAPE_SEGMENT : TALUS_SHAPE_BOX, "wall", 0, 0, 0);
        wall.rotation[2] = M_PI / 6.0;
        wall.shape.edge_u[0] = wall.shape.half_size[0] = 3000.0;
        wall.shape.half_size[1] = 1.0;
        talus_grain_def grain =
            physics_block(physics_box_solid(world, "bar", 2, 6000.0, 2.0, 0.0), 0, 0, 0);
        grain.rotation[2] = M_PI / 6.0;
        if (kind == GRAIN) {
            physics_add(world, &grain);
        } else {
            physics_wall(world, &wall);
        }
        image m = picture_of(world, false, false);
        for (double along = -1.5; along <= 1.5; along += 0.25) {
            for (int side = -1; side <= 1; side++) {
                const double x = along * c - side * s, y = along * s + side * c;
                if (kind != GRAIN)
                    assert_int_equal(line_at(&m, x, y), (kind == BOX) == (side != 0));
                const unsigned inner =
                    seen_at(&m, 0.9 * side * -s + along * c, 0.9 * side * c + along * s);
                const unsigned outer =
                    seen_at(&m, 1.1 * side * -s + along * c, 1.1 * side * c + along * s);
                if (kind == GRAIN) check_colour(inner, (rgb){0.80, 0.84, 0.88});
                if (side != 0) assert_int_equal(outer, 0xffffff);
            }
        }
        cairo_surface_destroy(m.surface);
    }
}

/// An inclined plane whose point is far away, in a picture with reversed axes: the edge is where it
/// was, and the hatching behind it.
static void test_plane_with_reversed_axes(void** state)
{
    (void)state;
    const double c = cos(M_PI / 6.0), s = sin(M_PI / 6.0);
    for (int mode = 0; mode < 4; mode++) {
        const double sign_x = mode & 1 ? -1.0 : 1.0, sign_y = mode & 2 ? -1.0 : 1.0;
        talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
        physics_plane_at(world, "slope", -s, c, 0, 1e5 * c, 1e5 * s, 0);
        const image m = picture_of(world, mode & 1, mode & 2);
        int before = 0, behind = 0;
        for (double along = -2.5; along <= 2.5; along += 0.05) {
            assert_true(line_at(&m, sign_x * along * c, sign_y * along * s));
            const double off = 0.06; // about 2.5 points
            const double fx = along * c - off * s, fy = along * s + off * c;
            const double bx = along * c + off * s, by = along * s - off * c;
            before += seen_at(&m, sign_x * fx, sign_y * fy) != 0xffffff;
            behind += seen_at(&m, sign_x * bx, sign_y * by) != 0xffffff;
        }
        assert_int_equal(before, 0);
        assert_true(behind > 10);
        cairo_surface_destroy(m.surface);
    }
}

static void test_walls_in_2d(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
    talus_wall_def box = wall_of(TALUS_SHAPE_BOX, "box", -1.5, 1.5, 0);
    box.shape.inside = true;
    box.shape.half_size[0] = 1.0, box.shape.half_size[1] = 0.5;
    box.shape.open_faces = TALUS_FACE_Y_HIGH;
    physics_wall(world, &box);
    talus_wall_def drum = wall_of(TALUS_SHAPE_CYLINDER, "drum", 1.5, 1.5, 0);
    drum.shape.inside = true;
    drum.shape.radius = 1.0;
    physics_wall(world, &drum);
    talus_wall_def block = wall_of(TALUS_SHAPE_SOLID, "block", -1.5, -1.5, 0);
    block.shape.solid = physics_box_solid(world, "shape", 2, 2.0, 1.0, 0.0);
    block.rotation[2] = 0.5 * M_PI;
    physics_wall(world, &block);
    talus_wall_def gate = wall_of(TALUS_SHAPE_SEGMENT, "gate", 1.5, -1.5, 0);
    gate.shape.edge_u[0] = 1.0;
    talus_error error;
    check_ok(talus_world_remove_wall(world, physics_wall(world, &gate), &error), error);
    image m = picture_of(world, false, false);
    assert_true(line_at(&m, -2.5, 1.5) && line_at(&m, -0.5, 1.5) && line_at(&m, -1.5, 1.0));
    assert_false(line_at(&m, -1.5, 2.0)); // its open face
    for (int k = 0; k < 32; k++) {
        const double angle = M_PI * k / 16.0;
        assert_true(line_at(&m, 1.5 + cos(angle), 1.5 + sin(angle)));
    }
    assert_true(line_at(&m, -1.0, -1.2) && line_at(&m, -2.0, -1.2) && line_at(&m, -1.7, -0.5));
    assert_false(line_at(&m, -0.5, -1.5)); // it is turned
    assert_false(line_at(&m, 1.5, -1.5));  // the gate is gone
    cairo_surface_destroy(m.surface);
}

/// The extent of a picture of one round wall must be this.
static void check_round(const talus_picture_def* def, int dim, double width, double height)
{
    talus_world* world = physics_world_g(dim, 0.5, 0, 0, 0);
    talus_wall_def drum = wall_of(TALUS_SHAPE_CYLINDER, "drum", 1.0, 2.0, dim == 3 ? 3.0 : 0.0);
    drum.shape.inside = true;
    drum.shape.radius = 1.0;
    drum.shape.half_length = 0.5;
    if (dim == 3) drum.shape.axis[2] = 1.0;
    // Turned so that no corner of a polygon would lie in the direction of an axis.
    drum.rotation[2] = 0.01;
    physics_wall(world, &drum);
    double low[2], high[2];
    talus_error error;
    check_ok(talus_picture_extent(world, def, low, high, &error), error);
    // 1 - cos(pi / 360) is the sagitta of a side of a polygon with 360 sides.
    check_close("width", high[0] - low[0], width, 1e-4, "sagitta of a side");
    check_close("height", high[1] - low[1], height, 1e-4, "sagitta of a side");
    talus_world_destroy(world);
}

/// Round walls are circles in 2D and along their axis, and smooth from elsewhere: a polygon with 72
/// sides is smaller by 1e-3.
static void test_round_walls(void** state)
{
    (void)state;
    talus_picture_def def = talus_picture_default();
    check_round(&def, 2, 2.0, 2.0);
    def.view = 2;
    check_round(&def, 3, 2.0, 2.0);
    def.oblique = true, def.elevation = 30.0;
    check_round(&def, 3, 2.0, 2.0 * sin(M_PI / 6.0) + cos(M_PI / 6.0));
}

/// A drum of which the picture shows only a spot: its line goes through it, however large it is.
static void test_large_round_wall(void** state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        const double radius = large ? 1e6 : 30.0, half = large ? 1.0 : 3.0;
        talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
        talus_wall_def drum = wall_of(TALUS_SHAPE_CYLINDER, "drum", 0, 0, 0);
        drum.shape.inside = true;
        drum.shape.radius = radius;
        physics_wall(world, &drum);
        const double angle = 0.7, x = radius * cos(angle), y = radius * sin(angle);
        talus_figure* figure = new_figure();
        talus_axes_def axes = talus_axes_default();
        axes.x_low = x - half, axes.x_high = x + half, axes.y_low = y - half;
        axes.y_high = y + half;
        set_axes(figure, axes);
        talus_picture_def def = talus_picture_default();
        talus_error error;
        check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
        image m = write_and_read(figure);
        assert_true(is_dark(colour_at(&m, 0.5, 0.5)));
        const double along[2] = {-sin(angle), cos(angle)};
        for (int k = -1; k <= 1; k += 2) {
            const double turn = angle + 0.8 * k * half / radius;
            const double at[2] = {(radius * cos(turn) - x) / (2.0 * half) + 0.5,
                                  (radius * sin(turn) - y) / (2.0 * half) + 0.5};
            assert_true(is_dark(colour_at(&m, at[0], at[1])));
            assert_false(
                is_dark(colour_at(&m, 0.5 + 0.3 * k * along[1], 0.5 - 0.3 * k * along[0])));
        }
        cairo_surface_destroy(m.surface);
        talus_world_destroy(world);
    }
}

/// Looking along y, x goes to the right and z up.
static void test_walls_in_3d(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(3, 0.5, 0, 0, 0);
    physics_plane_at(world, "floor", 0, 0, 1, 0, 0, -2.5);
    talus_wall_def plate = wall_of(TALUS_SHAPE_PLATE, "plate", -2.0, 0, -1.5);
    plate.shape.edge_u[0] = 0.5, plate.shape.edge_v[2] = 0.5;
    physics_wall(world, &plate);
    talus_wall_def box = wall_of(TALUS_SHAPE_BOX, "box", 0.0, 0, -1.5);
    for (int k = 0; k < 3; k++) box.shape.half_size[k] = 0.5;
    physics_wall(world, &box);
    talus_wall_def cone = wall_of(TALUS_SHAPE_CONE, "cone", 2.0, 0, -1.5);
    cone.shape.axis[2] = 1.0;
    cone.shape.radius = 0.25, cone.shape.radius_high = 0.75, cone.shape.half_length = 0.5;
    physics_wall(world, &cone);
    const double triangle[9] = {-2.5, 0, 1, -1.5, 0, 1, -2.5, 0, 2};
    talus_wall_def mesh = wall_of(TALUS_SHAPE_MESH, "mesh", 0, 0, 0);
    mesh.shape.triangles = triangle, mesh.shape.triangle_count = 1;
    physics_wall(world, &mesh);
    talus_wall_def block = wall_of(TALUS_SHAPE_SOLID, "block", 2.0, 0, 1.5);
    block.shape.solid = physics_box_solid(world, "shape", 3, 1.0, 1.0, 2.0);
    physics_wall(world, &block);
    image m = picture_of(world, false, false);
    assert_true(line_at(&m, 0.0, -2.5)); // floor
    assert_true(line_at(&m, -2.5, -1.5) && line_at(&m, -1.5, -1.5) && line_at(&m, -2.0, -1.0));
    assert_true(line_at(&m, -0.5, -1.5) && line_at(&m, 0.5, -1.5) && line_at(&m, 0.0, -1.0));
    assert_true(line_at(&m, 1.5, -1.5) && line_at(&m, 2.5, -1.5)); // half way up the cone
    assert_true(line_at(&m, -2.0, 1.0) && line_at(&m, -2.5, 1.5) && line_at(&m, -2.0, 1.5));
    assert_true(line_at(&m, 1.5, 1.5) && line_at(&m, 2.5, 1.5) && line_at(&m, 2.0, 2.5));
    assert_false(line_at(&m, -2.0, -1.5) || line_at(&m, 0.0, -1.5) || line_at(&m, 2.0, -1.5));
    cairo_surface_destroy(m.surface);
}

// ---- wrong arguments ---------------------------------------------------------------------------

static void test_refused_pictures(void** state)
{
    (void)state;
    talus_error error;
    talus_figure* figure = new_figure();
    talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
    talus_picture_def bad = talus_picture_default();
    bad.view = 3;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "axes");
    bad = talus_picture_default();
    bad.value_low = 1.0;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "scale");
    bad = talus_picture_default();
    bad.forces = true, bad.force_width = -1.0;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "width");
    bad.force_width = 2000.0;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "at most 1000");
    // An empty world is a picture of nothing.
    talus_picture_def empty = talus_picture_default();
    check_ok(talus_figure_world(figure, 0, world, &empty, &error), error);
    image m = write_and_read(figure);
    cairo_surface_destroy(m.surface);
    talus_world_destroy(world);
}

/// A picture is to scale: no axis may be logarithmic, whichever came first.
static void test_refused_logarithmic_picture(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
    const talus_picture_def def = talus_picture_default();
    for (int mode = 0; mode < 2; mode++) {
        talus_figure* figure = new_figure();
        check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
        talus_axes_def axes = talus_axes_default();
        axes.x_log = mode == 0, axes.y_log = mode == 1;
        set_axes(figure, axes);
        check_refused(talus_figure_write(figure, "test_log.svg", 72.0, &error), TALUS_ERR_ARGUMENT,
                      &error, "linear");
        assert_int_not_equal(access("test_log.svg", F_OK), 0);
        talus_figure_destroy(figure);
    }
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picture_of_disks),
        cmocka_unit_test(test_picture_of_own_colours),
        cmocka_unit_test(test_picture_of_forces),
        cmocka_unit_test(test_widths_of_forces),
        cmocka_unit_test(test_parts_of_a_grain),
        cmocka_unit_test(test_picture_of_balls),
        cmocka_unit_test(test_picture_of_solids),
        cmocka_unit_test(test_shortest_scale),
        cmocka_unit_test(test_far_lines_keep_their_slope),
        cmocka_unit_test(test_plane_with_reversed_axes),
        cmocka_unit_test(test_walls_in_2d),
        cmocka_unit_test(test_walls_in_3d),
        cmocka_unit_test(test_round_walls),
        cmocka_unit_test(test_large_round_wall),
        cmocka_unit_test(test_refused_pictures),
        cmocka_unit_test(test_refused_logarithmic_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
