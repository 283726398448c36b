/// The table of methods.
#include "world/method.h"

static const method_traits methods[] = {
    [TALUS_METHOD_CONTACT] = {.name = "contact",
                              .undoable = true,
                              .solves_contacts = true,
                              .polyhedra = true},
    [TALUS_METHOD_SOFT] = {.name = "soft",
                           .has_springs = true,
                           .short_steps = true,
                           .locks_axes = true},
};

const method_traits* method_of(talus_method which)
{
    return &methods[which];
}
