/// Contact laws behind one interface; one file each, listed in law.c.
///
/// A law turns the constants of a material pair and the state of a contact into the constants of
/// its row in the contact problem (prepare), and knows its natural map: the impulse that one
/// contact takes, everything else held, when its response block is diagonal (map) or full (block).
/// Solvers and the residual use nothing else, so a new law serves them all.
#ifndef TALUS_LAW_LAW_H
#define TALUS_LAW_LAW_H

#include <stdbool.h>
#include <stdint.h>
#include <talus/world.h>

/// What a law may look at when a step begins.
typedef struct law_input {
    const talus_pair_def* pair;
    double gap; ///< at the start of the step
    double h;
    bool push_out_overlap; ///< plain g instead of g+
} law_input;

/// Constants of a contact during a step.
typedef struct law_constants {
    double bias; ///< u_n + bias >= 0 is the exclusion
    double mu;   ///< friction coefficient
} law_constants;

typedef struct contact_law {
    const char* name;
    law_constants (*prepare)(const law_input* in);
    /// out = impulse after the step p - (mn, mt)(u + bias n), brought back into the law's set.
    void (*map)(int dim, const double* n, double mn, double mt, law_constants k, const double* u,
                const double* p, double* out);
    /// Exact solution for the full block S [dim][dim] and velocity `free` without this impulse.
    /// False if none was found; p is then the best the law can offer.
    bool (*block)(int dim, const double* S, const double* n, law_constants k, const double* free,
                  double* p);
} contact_law;

/// Indices into the list of laws. The first is also known to the solvers' inlined kernels.
enum { LAW_COULOMB = 0, LAW_COUNT };

extern const contact_law coulomb_law;

/// The law at an index.
const contact_law* law_at(int index);
/// Index of the law that a pair's constants ask for.
int law_of_pair(const talus_pair_def* pair);

#endif
