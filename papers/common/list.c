/// All experiments, in the order of `talus paper`.
#include "list.h"

static const paper_experiment* const experiments[] = {
    NULL, // the end
};

const paper_experiment* const* paper_list(void)
{
    return experiments;
}
