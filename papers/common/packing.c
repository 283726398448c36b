/// A packing is made in three stages: grains are placed at random, one after the other, where they
/// touch none before (random sequential addition); the lid comes down; and when it has come to a
/// halt, every grain loses a tenth of its velocity a step until forces balance. That last friction
/// stops rattlers too, for which collisions alone would take ever longer.
#include "packing.h"

#include "lattice.h"
#include "random.h"
#include <math.h>

packing_def packing_default(void)
{
    return (packing_def){.dim = 2,
                         .grains = 1000,
                         .radius_low = 1,
                         .radius_high = 2,
                         .density = 1,
                         .friction = 0.05,
                         .pressure = 1,
                         .lid_mass = 10,
                         .rest = 1e-10,
                         .seed = 1,
                         .threads = 1,
                         .solver = paper_solver_default()};
}

/// Volume (2D: area) of a ball of radius 1.
static double unit_ball(int dim)
{
    return dim == 2 ? M_PI : 4 * M_PI / 3;
}

/// Mean of r^dim for radii uniform between the two.
static double mean_power(const packing_def* def)
{
    double low = def->radius_low, high = def->radius_high;
    if (high - low < 1e-9 * high) return pow(high, def->dim);
    return (pow(high, def->dim + 1) - pow(low, def->dim + 1)) / ((def->dim + 1) * (high - low));
}

double packing_mean_mass(const packing_def* def)
{
    return def->density * unit_ball(def->dim) * mean_power(def);
}

double packing_width(const packing_def* def)
{
    if (def->width > 0) return def->width;
    double filled = def->dim == 2 ? 0.83 : 0.62; // of the volume, about, in the end
    double volume = (double)def->grains * unit_ball(def->dim) * mean_power(def) / filled;
    return fmax(pow(volume, 1.0 / def->dim), 4 * def->radius_high);
}

double packing_step(const packing_def* def)
{
    return 0.1 * (def->radius_low + def->radius_high) * sqrt(def->density / def->pressure);
}

/// Area of the lid (2D: its length).
static double lid_area(const packing_def* def)
{
    return pow(packing_width(def), def->dim - 1);
}

// ---- placing -----------------------------------------------------------------------------------

/// Grains on their places, sorted into cells as wide as the largest grain or a little wider.
typedef struct placing {
    int dim;
    bool periodic;
    double size[3]; ///< of the box to fill, from the origin
    double edge[3]; ///< of a cell
    int cells[3];
    int64_t* first; ///< [cells] last grain placed there, -1: none
    int64_t* next;  ///< [grains] the one before in the same cell
    double* position;
    double* radius;
} placing;

static talus_status start_placing(paper* p, const packing_def* def, placing* box)
{
    const double width = packing_width(def);
    const int up = def->dim - 1;
    *box = (placing){.dim = def->dim, .periodic = def->periodic, .size = {width, width, width}};
    const double filled = def->dim == 2 ? 0.4 : 0.25; // loose enough to be found by chance
    box->size[up] =
        (double)def->grains * unit_ball(def->dim) * mean_power(def) / (filled * lid_area(def)) +
        2 * def->radius_high;
    int64_t total = 1;
    for (int k = 0; k < def->dim; k++) {
        double room = k == up ? 3 * box->size[k] : box->size[k]; // the box may grow
        box->cells[k] = (int)fmax(1, floor(room / (2 * def->radius_high)));
        box->edge[k] = room / box->cells[k];
        total *= box->cells[k];
    }
    box->first = paper_alloc(p, (size_t)total, sizeof *box->first);
    box->next = paper_alloc(p, (size_t)def->grains, sizeof *box->next);
    box->position = paper_alloc(p, 3 * (size_t)def->grains, sizeof *box->position);
    box->radius = paper_alloc(p, (size_t)def->grains, sizeof *box->radius);
    if (!box->first || !box->next || !box->position || !box->radius) return p->error.status;
    for (int64_t c = 0; c < total; c++) box->first[c] = -1;
    return TALUS_OK;
}

/// Cell with these coordinates; -1 beyond the box. Sides that wrap around have no beyond.
static int64_t cell_at(const placing* box, const int at[3])
{
    int64_t cell = 0;
    for (int k = box->dim - 1; k >= 0; k--) {
        int c = at[k], n = box->cells[k];
        if (box->periodic && k < box->dim - 1) c = (c + n) % n;
        if (c < 0 || c >= n) return -1;
        cell = cell * n + c;
    }
    return cell;
}

static bool overlaps(const placing* box, int64_t i, int64_t j)
{
    double square = 0, reach = box->radius[i] + box->radius[j];
    for (int k = 0; k < box->dim; k++) {
        double d = box->position[3 * i + k] - box->position[3 * j + k];
        if (box->periodic && k < box->dim - 1) d -= box->size[k] * rint(d / box->size[k]);
        square += d * d;
    }
    return square < reach * reach;
}

/// Does grain i, with its place chosen, touch none of those in the cells around?
static bool is_free(const placing* box, int64_t i, const int at[3])
{
    for (int z = box->dim == 3 ? -1 : 0; z <= (box->dim == 3 ? 1 : 0); z++) {
        for (int y = -1; y <= 1; y++) {
            for (int x = -1; x <= 1; x++) {
                int64_t cell = cell_at(box, (int[3]){at[0] + x, at[1] + y, at[2] + z});
                if (cell < 0) continue;
                for (int64_t j = box->first[cell]; j >= 0; j = box->next[j]) {
                    if (overlaps(box, i, j)) return false;
                }
            }
        }
    }
    return true;
}

/// Try one random place for grain i.
static bool try_place(placing* box, int64_t i, uint64_t* random)
{
    int at[3] = {0};
    for (int k = 0; k < box->dim; k++) {
        bool wraps = box->periodic && k < box->dim - 1;
        double margin = wraps ? 0 : box->radius[i];
        double x = random_between(random, margin, box->size[k] - margin);
        box->position[3 * i + k] = x;
        at[k] = (int)fmin(floor(x / box->edge[k]), box->cells[k] - 1);
    }
    if (!is_free(box, i, at)) return false;
    int64_t cell = cell_at(box, at);
    box->next[i] = box->first[cell];
    box->first[cell] = i;
    return true;
}

/// Find a place for every grain. Where chance takes too long the box grows.
static talus_status place(paper* p, const packing_def* def, placing* box)
{
    enum { PATIENCE = 300 };
    TRY(start_placing(p, def, box));
    const int up = def->dim - 1;
    const double highest = 3 * box->size[up];
    uint64_t random = def->seed;
    for (int64_t i = 0; i < def->grains; i++) {
        box->radius[i] = random_between(&random, def->radius_low, def->radius_high);
        for (int tries = 1; !try_place(box, i, &random); tries++) {
            if (tries % PATIENCE == 0) box->size[up] *= 1.02;
            if (box->size[up] > highest) {
                return paper_fail(p, "no room for grain %lld of a packing", (long long)i);
            }
        }
    }
    return TALUS_OK;
}

// ---- the world ---------------------------------------------------------------------------------

talus_status packing_press(paper* p, const packing_def* def, talus_world* world, double pressure)
{
    talus_drive_def drive = talus_drive_default();
    drive.kind = TALUS_DRIVE_FORCE;
    drive.mass = def->lid_mass * packing_mean_mass(def);
    drive.free_axes[def->dim - 1] = true;
    drive.force[def->dim - 1] = -pressure * lid_area(def);
    return talus_world_set_drive(world, talus_world_find_wall(world, "lid"), &drive, &p->error);
}

/// The placed grains between floor and lid, with walls at the sides if so wished.
static talus_status create(paper* p, const packing_def* def, const placing* box, bool sides,
                           talus_world** out)
{
    const int up = def->dim - 1;
    talus_world_def options = paper_world_default();
    options.dim = def->dim;
    options.seed = def->seed;
    options.threads = def->threads;
    for (int k = 0; k < up; k++) {
        options.periodic[k] = def->periodic;
        options.cell_high[k] = box->size[k];
    }
    TRY(paper_world(p, &options, out));
    talus_pair_def pair = talus_pair_default();
    pair.friction = def->friction;
    TRY(talus_world_add_material(*out, "grains", &pair, NULL, &p->error));
    TRY(lattice_plane(p, *out, "floor", up, 1, 0));
    if (sides) {
        TRY(lattice_plane(p, *out, "left", 0, 1, 0));
        TRY(lattice_plane(p, *out, "right", 0, -1, box->size[0]));
    }
    if (sides && def->dim == 3) {
        TRY(lattice_plane(p, *out, "front", 1, 1, 0));
        TRY(lattice_plane(p, *out, "back", 1, -1, box->size[1]));
    }
    TRY(lattice_plane(p, *out, "lid", up, -1, box->size[up]));
    TRY(packing_press(p, def, *out, def->pressure));
    talus_grain_def grain = talus_grain_default();
    grain.density = def->density;
    for (int64_t i = 0; i < def->grains; i++) {
        grain.radius = box->radius[i];
        for (int k = 0; k < 3; k++) grain.position[k] = box->position[3 * i + k];
        TRY(talus_world_add_grain(*out, &grain, NULL, &p->error));
    }
    return TALUS_OK;
}

// ---- bringing it to rest -----------------------------------------------------------------------

/// Position (at 0) and velocity (at 1) of the lid along the last axis.
static talus_status lid_state(paper* p, const packing_def* def, const talus_world* world,
                              double state[2])
{
    talus_wall_state lid;
    TRY(talus_world_wall(world, talus_world_find_wall(world, "lid"), &lid, &p->error));
    state[0] = lid.position[def->dim - 1];
    state[1] = lid.velocity[def->dim - 1];
    return TALUS_OK;
}

/// Let the lid fall until it is stopped.
static talus_status compress(paper* p, const packing_def* def, talus_world* world, double h)
{
    const double slow = 0.02 * sqrt(def->pressure / def->density);
    double lid[2], start[2];
    TRY(lid_state(p, def, world, start));
    const int64_t most = 200 + (int64_t)(20 * start[0] / (h * sqrt(def->pressure / def->density)));
    bool moved = false;
    for (int64_t s = 0; s < most; s++) {
        TRY(talus_world_step(world, h, NULL, &p->error));
        TRY(lid_state(p, def, world, lid));
        if (lid[1] < -5 * slow) moved = true;
        if (moved && lid[1] > -slow) return TALUS_OK;
    }
    return paper_fail(p, "the lid of a packing did not come to a halt in %lld steps",
                      (long long)most);
}

void packing_slow(talus_world* world, double part)
{
    talus_editable_grains grains;
    if (talus_world_edit_grains(world, &grains, NULL) < 0) return;
    for (int64_t i = 0; i < grains.count * grains.dim; i++) grains.velocity[i] *= part;
    for (int64_t i = 0; i < grains.count * grains.spin_dim; i++) grains.spin[i] *= part;
}

/// Take the velocities away step by step until forces alone give the grains hardly any. The slower
/// they are the more exact must the solver be, or its errors would keep them going.
static talus_status calm(paper* p, const packing_def* def, talus_world* world, double h)
{
    enum { MOST = 20000 };
    talus_solver_def solver = paper_solver_default();
    for (int64_t s = 0; s < MOST; s++) {
        talus_step_result result;
        double lid[2];
        packing_slow(world, 0.9);
        TRY(talus_world_step(world, h, &result, &p->error));
        TRY(lid_state(p, def, world, lid));
        double motion = result.kinetic_energy / (def->pressure * lid_area(def) * lid[0]);
        if (motion < def->rest) return TALUS_OK;
        if (5 * sqrt(motion) < 0.7 * solver.tolerance) {
            solver.tolerance = 5 * sqrt(motion);
            TRY(talus_world_set_solver(world, &solver, &p->error));
        }
    }
    return paper_fail(p, "a packing did not come to rest in %d steps", (int)MOST);
}

talus_status packing_stop(paper* p, const packing_def* def, talus_world* world)
{
    packing_slow(world, 0);
    talus_drive_def held = talus_drive_default(); // which stops a wall
    TRY(talus_world_set_drive(world, talus_world_find_wall(world, "lid"), &held, &p->error));
    return packing_press(p, def, world, def->pressure);
}

talus_status packing_make(paper* p, const packing_def* def, talus_world** out)
{
    const double h = def->step > 0 ? def->step : packing_step(def);
    placing box;
    TRY(place(p, def, &box));
    TRY(create(p, def, &box, !def->periodic, out));
    TRY(compress(p, def, *out, h));
    TRY(calm(p, def, *out, h));
    TRY(packing_stop(p, def, *out));
    return talus_world_set_solver(*out, &def->solver, &p->error);
}

talus_status packing_column(paper* p, const packing_def* def, talus_world** out)
{
    const double diameter = 2 * def->radius_low;
    placing box;
    TRY(start_placing(p, def, &box));
    box.size[1] = diameter * (double)def->grains;
    for (int64_t i = 0; i < def->grains; i++) {
        box.radius[i] = def->radius_low;
        box.position[3 * i + 1] = diameter * ((double)i + 0.5);
    }
    return create(p, def, &box, false, out);
}
