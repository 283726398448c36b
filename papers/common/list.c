/// All experiments, in the order of `talus paper`.
#include "list.h"

extern const paper_experiment paper_relaxation;
extern const paper_experiment paper_chain;
extern const paper_experiment paper_dispersion;
extern const paper_experiment paper_sound_2d;
extern const paper_experiment paper_stiffness;
extern const paper_experiment paper_criteria;
extern const paper_experiment paper_shock_law;
extern const paper_experiment paper_rolling_heap;
extern const paper_experiment paper_cohesion;
extern const paper_experiment paper_force_network;
extern const paper_experiment paper_indeterminacy;
extern const paper_experiment paper_two_discs;
extern const paper_experiment paper_two_polygons;
extern const paper_experiment paper_shear;

static const paper_experiment* const experiments[] = {
    &paper_relaxation,
    &paper_chain,
    &paper_dispersion,
    &paper_sound_2d,
    &paper_stiffness,
    &paper_criteria,
    &paper_shock_law,
    &paper_rolling_heap,
    &paper_cohesion,
    &paper_force_network,
    &paper_indeterminacy,
    &paper_two_discs,
    &paper_two_polygons,
    &paper_shear,
    NULL, // the end
};

const paper_experiment* const* paper_list(void)
{
    return experiments;
}
