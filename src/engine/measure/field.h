/// Inside of coarse graining: what spreads over the grid.
#ifndef TALUS_MEASURE_FIELD_H
#define TALUS_MEASURE_FIELD_H

#include "measure/domain.h"
#include "measure/kernel.h"

/// An image of a grain or of a contact that reaches the grid: where it begins, and which it is.
typedef struct field_source {
    double x[3];
    int64_t row;
} field_source;

typedef struct field_sources {
    int64_t count, capacity;
    field_source* item;
    int64_t* layer_first; ///< [layers + 1] where a layer begins in the next one
    int64_t* layer_item;  ///< the sources that may reach a layer, in their order
} field_sources;

typedef struct field_task {
    const talus_world* world;
    const domain* domain;
    kernel kernel;
    talus_field* out;
    field_sources grains, contacts;
} field_task;

/// List the images of grains and (with `stress`) contacts that reach the grid.
talus_status field_sources_find(field_task* t, bool stress);
void field_sources_free(field_task* t);
/// Sum up one layer of the grid along the last axis, in the order of the sources.
void field_layer(const field_task* t, int layer);

#endif
