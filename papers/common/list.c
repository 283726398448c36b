/// All experiments, in the order of `talus paper`.
#include "list.h"

extern const paper_experiment paper_relaxation;
extern const paper_experiment paper_chain;
extern const paper_experiment paper_dispersion;
extern const paper_experiment paper_shock_law;
extern const paper_experiment paper_force_network;

static const paper_experiment* const experiments[] = {
    &paper_relaxation,
    &paper_chain,
    &paper_dispersion,
    &paper_shock_law,
    &paper_force_network,
    NULL, // the end
};

const paper_experiment* const* paper_list(void)
{
    return experiments;
}
