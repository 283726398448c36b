/// Contact updates per second of one core for contacts that do more than rub, of balls and of
/// boxes, in cache: packings as those of bench/updates.c and bench/solids.c, settled with each law.
///
///     laws [WORDS]    only cases whose name contains the words, as "boxes 3D, rolling"
#include "rate.h"

typedef struct law_case {
    const char* name;
    double cohesion, dynamic_friction, rolling, torsion;
} law_case;

static packing_kind packing_of(const law_case* c, int dim, grain_kind shape)
{
    packing_kind kind = plain_packing(dim, shape);
    kind.law.dynamic_friction = c->dynamic_friction;
    kind.law.cohesion_force = c->cohesion;
    kind.law.cohesion_energy = 0.01 * c->cohesion;
    kind.law.rolling = c->rolling;
    kind.law.torsion = dim == 3 ? c->torsion : 0.0;
    return kind;
}

int main(int argc, char** argv)
{
    // Grains weigh about 5; contacts at the bottom bear some ten of them.
    static const law_case laws[] = {
        {.name = "friction only"},
        {.name = "cohesion", .cohesion = 5.0},
        {.name = "two frictions", .dynamic_friction = 0.2},
        {.name = "rolling", .rolling = 0.05, .torsion = 0.05},
        {.name = "all", .cohesion = 5.0, .dynamic_friction = 0.2, .rolling = 0.05, .torsion = 0.05},
    };
    static const char* const names[2] = {"balls", "boxes"};
    const int side[2][2] = {{40, 10}, {40, 7}}, high[2][2] = {{25, 10}, {20, 7}};
    const bandwidth memory = measure_bandwidth();
    print_update_head();
    for (int boxes = 0; boxes < 2; boxes++) {
        for (int dim = 2; dim <= 3; dim++) {
            for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++) {
                const packing_kind kind =
                    packing_of(&laws[k], dim, boxes ? GRAIN_BOXES : GRAIN_BALLS);
                double width[3];
                char name[64];
                snprintf(name, sizeof name, "%s %dD, %s", names[boxes], dim, laws[k].name);
                if (argc > 1 && !strstr(name, argv[1])) continue;
                printf("%s\n", name);
                talus_world* world =
                    settled_tile(&kind, side[boxes][dim - 2], high[boxes][dim - 2], width);
                measure_updates(world, "in cache", &memory, PACKED_SWEEPS);
                talus_world_destroy(world);
            }
        }
    }
    return 0;
}
