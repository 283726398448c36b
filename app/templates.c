/// The texts of the starter scenes. Each is small enough to run in seconds and shows the keys that
/// are changed first.
#include "templates.h"

#include <stddef.h>

/// What all of them begin with.
#define HEAD                                                                                       \
    "2|dimension: 2 @:dimension\n"                                                                 \
    "3|dimension: 3 @:dimension\n"

#define TAIL                                                                                       \
    "\n# What is recorded, and how often.\n"                                                       \
    "output:\n"                                                                                    \
    "  frames: 0.02 @output:frames\n"                                                              \
    "  series: 0.001 @output:series\n"                                                             \
    "# threads: 4 @:threads\n"                                                                     \
    "# seed: 2 @:seed\n"

#define CONTACT_STEP "step: auto @:step\n"

#define GLASS                                                                                      \
    "\nmaterials:\n"                                                                               \
    "  glass:\n"                                                                                   \
    "    density: 2500 @materials.<name>:density\n"                                                \
    "    friction: 0.4 @materials.<name>:friction\n"                                               \
    "    restitution: 0 @materials.<name>:restitution\n"

#define GRAVITY                                                                                    \
    "2|gravity: [0, -9.81] @:gravity\n"                                                            \
    "3|gravity: [0, 0, -9.81] @:gravity\n"

#define BOX                                                                                        \
    "\nwalls:\n"                                                                                   \
    "  - name: box\n"                                                                              \
    "    type: box @walls[]:type\n"                                                                \
    "2|    low: [0, 0] @walls[]:low\n"                                                             \
    "2|    high: [0.2, 0.4] @walls[]:high\n"                                                       \
    "3|    low: [0, 0, 0] @walls[]:low\n"                                                          \
    "3|    high: [0.1, 0.1, 0.4] @walls[]:high\n"                                                  \
    "    open: [top] @walls[]:open\n"

#define FALLING                                                                                    \
    "\n# Grains are put at random spots of a region and then fall.\n"                              \
    "grains:\n"                                                                                    \
    "  - name: loose\n"                                                                            \
    "    type: fill @grains[]:type\n"                                                              \
    "2|    region: {low: [0, 0], high: [0.2, 0.3]} @grains[]:region\n"                             \
    "3|    region: {low: [0, 0, 0], high: [0.1, 0.1, 0.2]} @grains[]:region\n"                     \
    "2|    count: 150 @grains[]:count\n"                                                           \
    "3|    count: 200 @grains[]:count\n"                                                           \
    "    radius: {distribution: uniform, min: 0.004, max: 0.006} @grains[]:radius\n"

const scene_template scene_templates[] = {
    {"box", "grains fall into a box and come to rest",
     HEAD CONTACT_STEP GRAVITY GLASS BOX FALLING "\nuntil:\n"
                                                 "  kinetic_energy: 1e-9 @until:kinetic_energy\n"
                                                 "  hold: 0.02 @until:hold\n"
                                                 "  time: 2 @until:time\n" TAIL},
    {"hopper", "grains settle behind a gate and flow out when it is removed",
     HEAD CONTACT_STEP GRAVITY
     "2|periodic: {x: [-0.2, 0.2]} @:periodic\n"
     "2|domain: {low: [-1, -0.2], high: [1, 1]} @:domain\n"
     "3|domain: {low: [-1, -1, -0.2], high: [1, 1, 1]} @:domain\n"
     "policies: {escape: remove} @policies:escape\n" GLASS "\nwalls:\n"
     "2|  - {name: left, type: segment, from: [-0.1, 0.15], to: [-0.02, 0], thickness: 0.004}\n"
     "2|  - {name: right, type: segment, from: [0.02, 0], to: [0.1, 0.15], thickness: 0.004}\n"
     "2|  - {name: left side, type: segment, from: [-0.1, 0.15], to: [-0.1, 0.5], thickness: "
     "0.004}\n"
     "2|  - {name: right side, type: segment, from: [0.1, 0.15], to: [0.1, 0.5], thickness: "
     "0.004}\n"
     "2|  - {name: gate, type: segment, from: [-0.02, 0], to: [0.02, 0], thickness: 0.004}\n"
     "3|  - name: funnel\n"
     "3|    type: cone @walls[]:type\n"
     "3|    from: {point: [0, 0, 0], radius: 0.02} @walls[]:from\n"
     "3|    to: {point: [0, 0, 0.06], radius: 0.05} @walls[]:to\n"
     "3|    thickness: 0.002 @walls[]:thickness\n"
     "3|  - {name: bin, type: cone, from: {point: [0, 0, 0.06], radius: 0.05},\n"
     "3|     to: {point: [0, 0, 0.3], radius: 0.05}, thickness: 0.002}\n"
     "3|  - {name: gate, type: plate, center: [0, 0, 0], edges: [[0.06, 0, 0], [0, 0.06, 0]]}\n"
     "\ngrains:\n"
     "  - name: charge\n"
     "    type: fill @grains[]:type\n"
     "2|    region: {low: [-0.097, 0.16], high: [0.097, 0.4]} @grains[]:region\n"
     "3|    region: {type: cylinder, from: [0, 0, 0.07], to: [0, 0, 0.2], radius: 0.048} "
     "@grains[]:region\n"
     "2|    count: 250 @grains[]:count\n"
     "3|    count: 300 @grains[]:count\n"
     "2|    radius: {distribution: uniform, min: 0.004, max: 0.005} @grains[]:radius\n"
     "3|    radius: {distribution: uniform, min: 0.0035, max: 0.0045} @grains[]:radius\n"
     "\n# One after the other; the changes of a phase stay in force.\n"
     "phases:\n"
     "  - name: settle\n"
     "    until: {kinetic_energy: 1e-8, hold: 0.02, time: 1} @phases[]:until\n"
     "  - name: flow\n"
     "    remove: [gate] @phases[]:remove\n"
     "    until: {time: 1}\n" TAIL},
    {"shear", "grains between two rough walls, pressed together and sheared",
     HEAD CONTACT_STEP
     "2|periodic: {x: [0, 0.2]} @:periodic\n"
     "3|periodic: {x: [0, 0.1], y: [0, 0.05]} @:periodic\n" GLASS "\nwalls:\n"
     "  - name: floor\n"
     "    type: plane @walls[]:type\n"
     "2|    normal: [0, 1] @walls[]:normal\n"
     "3|    normal: [0, 0, 1] @walls[]:normal\n"
     "  - name: lid\n"
     "    type: plane\n"
     "2|    point: [0, 0.1] @walls[]:point\n"
     "2|    normal: [0, -1]\n"
     "3|    point: [0, 0, 0.05] @walls[]:point\n"
     "3|    normal: [0, 0, -1]\n"
     "    # It is pressed down, and free to move along the last axis.\n"
     "2|    motion: {type: force, mass: 1, force: [0, -100]} @walls[]:motion\n"
     "3|    motion: {type: force, mass: 0.5, force: [0, 0, -5]} @walls[]:motion\n"
     "\n# Grains glued to the walls make them rough; the others are placed between them.\n"
     "grains:\n"
     "2|  - {type: chain, count: 20, radius: 0.005, start: [0, 0], direction: [1, 0], glue: "
     "floor}\n"
     "2|  - {type: chain, count: 20, radius: 0.005, start: [0, 0.1], direction: [1, 0], glue: "
     "lid}\n"
     "3|  - {type: lattice, low: [0, 0, -0.005], counts: [10, 5, 1], radius: 0.005, glue: floor}\n"
     "3|  - {type: lattice, low: [0, 0, 0.045], counts: [10, 5, 1], radius: 0.005, glue: lid}\n"
     "  - name: sheared\n"
     "    type: fill @grains[]:type\n"
     "2|    region: {low: [0, 0.006], high: [0.2, 0.094]} @grains[]:region\n"
     "3|    region: {low: [0, 0, 0.006], high: [0.1, 0.05, 0.044]} @grains[]:region\n"
     "    solid_fraction: 0.5 @grains[]:solid_fraction\n"
     "    radius: {distribution: uniform, min: 0.004, max: 0.005} @grains[]:radius\n"
     "\nphases:\n"
     "  - name: press\n"
     "    until: {time: 0.1} @phases[]:until\n"
     "  - name: shear\n"
     "    set_motion: @phases[]:set_motion\n"
     "2|      floor: {type: velocity, velocity: [-0.1, 0]} @walls[].motion:velocity\n"
     "3|      floor: {type: velocity, velocity: [-0.1, 0, 0]} @walls[].motion:velocity\n"
     "2|    until: {time: 1}\n"
     "3|    until: {time: 0.2}\n" TAIL},
    {"soft", "the box with soft grains: springs, dashpots and small steps",
     HEAD "method: soft @:method\n"
          "step: auto @:step\n" GRAVITY "soft: {overlap: 0.01} @soft:overlap\n"
          "\nmaterials:\n"
          "  rubber:\n"
          "    density: 1100 @materials.<name>:density\n"
          "    friction: 0.5 @materials.<name>:friction\n"
          "    restitution: 0.5 @materials.<name>:restitution\n"
          "    # stiffness: 1e5 @materials.<name>:stiffness\n" BOX FALLING "\nuntil:\n"
          "  time: 0.5 @until:time\n" TAIL},
    {NULL, NULL, NULL},
};
