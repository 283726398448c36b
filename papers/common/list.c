/// All experiments, in the order of `talus paper`.
#include "list.h"

extern const paper_experiment paper_two_discs;
extern const paper_experiment paper_two_polygons;
extern const paper_experiment paper_shear;

static const paper_experiment* const experiments[] = {
    &paper_two_discs, &paper_two_polygons, &paper_shear,
    NULL, // the end
};

const paper_experiment* const* paper_list(void)
{
    return experiments;
}
