/// All experiments, in the order of `talus paper`.
#include "list.h"

extern const paper_experiment paper_force_network;

static const paper_experiment* const experiments[] = {
    &paper_force_network,
    NULL, // the end
};

const paper_experiment* const* paper_list(void)
{
    return experiments;
}
