/// Spheres on a loose lattice fall together in a tube; the column that they make collapses.
#include "heap.h"

#include "random.h"
#include <math.h>
#include <stdlib.h>

heap_def heap_default(void)
{
    return (heap_def){.spheres = 600,
                      .law = {.friction = 0.5},
                      .spread = 0.1,
                      .density = 6 / M_PI,
                      .step = 0.025,
                      .time = 60,
                      .rest = 1e-7,
                      .seed = 1};
}

static talus_pair_def pair_of(const heap_law* law)
{
    talus_pair_def pair = talus_pair_default();
    pair.friction = law->friction;
    pair.rolling_kind = TALUS_ROLLING_RADIUS;
    pair.rolling = law->rolling;
    pair.torsion = law->torsion;
    return pair;
}

talus_status heap_table(paper* p, double slope, const heap_law* law, talus_world** out)
{
    talus_world_def def = paper_world_default();
    def.gravity[0] = sin(slope);
    def.gravity[2] = -cos(slope);
    def.seed = p->seed;
    def.threads = p->threads;
    TRY(paper_world(p, &def, out));
    talus_pair_def bead = pair_of(law);
    talus_wall_def table = talus_wall_default();
    table.name = "table";
    table.shape.kind = TALUS_SHAPE_PLANE;
    table.shape.normal[2] = 1;
    TRY(talus_world_add_material(*out, "bead", &bead, &table.material, &p->error));
    return talus_world_add_wall(*out, &table, NULL, &p->error);
}

/// Fill the tube with spheres on a loose lattice, layer by layer, each shifted a little at random.
static talus_status fill_tube(paper* p, const heap_def* def, double tube, talus_world* world)
{
    const double spacing = 1.1 * (1 + def->spread), shift = 0.05;
    const int reach = (int)(tube / spacing);
    uint64_t random = def->seed;
    int64_t added = 0;
    for (int layer = 0; added < def->spheres; layer++) {
        for (int i = -reach; i <= reach; i++) {
            for (int j = -reach; j <= reach && added < def->spheres; j++) {
                if (hypot(i, j) * spacing > tube - 0.5 * (1 + def->spread) - shift) continue;
                talus_grain_def bead = talus_grain_default();
                bead.density = def->density;
                bead.radius = 0.5 * (1 + def->spread * random_between(&random, -1, 1));
                bead.position[0] = i * spacing + shift * random_between(&random, -0.7, 0.7);
                bead.position[1] = j * spacing + shift * random_between(&random, -0.7, 0.7);
                bead.position[2] = (layer + 0.6) * spacing;
                TRY(talus_world_add_grain(world, &bead, NULL, &p->error));
                added++;
            }
        }
    }
    return TALUS_OK;
}

static int ascending(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static talus_status measure(paper* p, const talus_world* world, heap_shape* out)
{
    talus_grains g = talus_world_grains(world);
    double* distance = paper_alloc(p, (size_t)g.count, sizeof *distance);
    if (!distance) return p->error.status;
    double height = 0;
    int64_t lifted = 0;
    for (int64_t i = 0; i < g.count; i++) {
        const double* x = g.position + 3 * i;
        distance[i] = hypot(x[0], x[1]);
        height += x[2] / (double)g.count;
        if (x[2] > 1.1 * g.radius[i]) lifted++;
    }
    qsort(distance, (size_t)g.count, sizeof *distance, ascending);
    out->height = 4 * height;
    out->radius = 2 * distance[g.count / 2];
    out->angle = atan2(out->height, out->radius) * 180 / M_PI;
    out->lifted = (double)lifted / (double)g.count;
    out->energy = talus_world_last(world)->kinetic_energy / (double)g.count;
    return TALUS_OK;
}

/// Step until the kinetic energy a sphere is below `rest`, or the time is over.
static talus_status settle(paper* p, const heap_def* def, talus_world* world, double time,
                           double rest)
{
    const double end = talus_world_time(world) + time;
    const talus_step_result* last = talus_world_last(world);
    for (int64_t s = 0; talus_world_time(world) < end; s++) {
        TRY(talus_world_step(world, def->step, NULL, &p->error));
        if (s > 100 && last->kinetic_energy < rest * (double)last->grains) break;
    }
    return TALUS_OK;
}

talus_status heap_make(paper* p, const heap_def* def, heap_shape* shape, talus_world** out)
{
    const heap_law loose = {.friction = def->law.friction};
    TRY(heap_table(p, 0, &loose, out));
    talus_world* world = *out;
    // A column in a tube without friction, about as wide as high, if spheres fill 0.6 of it.
    talus_pair_def smooth = talus_pair_default();
    talus_wall_def tube = talus_wall_default();
    tube.name = "tube";
    tube.shape.kind = TALUS_SHAPE_CYLINDER;
    tube.shape.inside = true;
    tube.shape.axis[2] = 1;
    tube.shape.radius = cbrt((double)def->spheres * (M_PI / 6) / (0.6 * 2 * M_PI));
    TRY(talus_world_add_material(world, "smooth", &smooth, &tube.material, &p->error));
    TRY(talus_world_add_wall(world, &tube, NULL, &p->error));
    TRY(fill_tube(p, def, tube.shape.radius, world));
    TRY(settle(p, def, world, 10, 1e-3));
    // The tube is taken away, and the column collapses.
    talus_pair_def pair = pair_of(&def->law);
    TRY(talus_world_set_pair(world, (talus_material_id){0}, (talus_material_id){0}, &pair,
                             &p->error));
    TRY(talus_world_remove_wall(world, talus_world_find_wall(world, "tube"), &p->error));
    TRY(settle(p, def, world, def->time, def->rest));
    return measure(p, world, shape);
}
