/// A world to try things on: what decides how a world goes on, once more.
///
/// The workspace of the method is not copied: it makes itself anew from the state, as after a
/// restart, and gives the same bits.
#include "base/error.h"
#include "world/world.h"

static talus_status copy_state(const physical_state* from, int dim, physical_state* to,
                               talus_error* error)
{
    int grain_columns, contact_columns;
    const column* of_grains = grains_columns(&grain_columns);
    const column* of_contacts = contacts_columns(&contact_columns);
    to->cell = from->cell;
    to->time = from->time;
    to->step = from->step;
    if (materials_copy(&to->materials, &from->materials) ||
        solids_copy(&to->solids, &from->solids) ||
        columns_copy(&to->grains, &from->grains, of_grains, grain_columns, dim,
                     from->grains.capacity) ||
        columns_copy(&to->contacts, &from->contacts, of_contacts, contact_columns, dim,
                     from->contacts.capacity)) {
        return error_memory(error, "copying a world");
    }
    to->grains.count = from->grains.count;
    to->grains.capacity = from->grains.capacity;
    to->grains.next_id = from->grains.next_id;
    to->contacts.count = from->contacts.count;
    to->contacts.capacity = from->contacts.capacity;
    return walls_copy(&to->walls, &from->walls, dim, error);
}

talus_status talus_world_copy(const talus_world* world, talus_world** out, talus_error* error)
{
    *out = NULL;
    talus_world_def def = world->def;
    def.log = NULL;
    def.log_user = NULL;
    talus_world* copy;
    TRY(talus_world_create(&def, &copy, error));
    copy->solves = world->solves;
    copy->extent = world->extent;
    copy->shortening = world->shortening;
    copy->shortened = world->shortened;
    copy->totals = world->totals;
    copy->last = world->last;
    const talus_status status = copy_state(&world->state, def.dim, &copy->state, error);
    if (status < 0) {
        talus_world_destroy(copy);
        return status;
    }
    *out = copy;
    return TALUS_OK;
}
