/// All experiments, in the order of `talus paper`.
#include "list.h"

extern const paper_experiment paper_criteria;
extern const paper_experiment paper_shock_law;
extern const paper_experiment paper_cd_vs_md;

static const paper_experiment* const experiments[] = {
    &paper_criteria,
    &paper_shock_law,
    &paper_cd_vs_md,
    NULL, // the end
};

const paper_experiment* const* paper_list(void)
{
    return experiments;
}
