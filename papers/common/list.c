/// All experiments, in the order of `talus paper`.
#include "list.h"

extern const paper_experiment paper_sound_2d;
extern const paper_experiment paper_iterations;

static const paper_experiment* const experiments[] = {
    &paper_sound_2d, &paper_iterations,
    NULL, // the end
};

const paper_experiment* const* paper_list(void)
{
    return experiments;
}
