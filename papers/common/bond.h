/// Two disks joined by a cohesive bond, which are pulled apart.
///
/// They have the diameter 1 and the mass 1; the strength F_C of the bond is 1.
#ifndef TALUS_PAPER_BOND_H
#define TALUS_PAPER_BOND_H

#include "paper.h"

#define BOND_REDUCED_MASS 0.5 ///< of the pair

/// What is done to a pair: a shock, or a lasting pull.
typedef struct bond_pull {
    double range, h;
    double momentum; ///< of the shock on each disk, passed on within one step: a force momentum/h
    double force;    ///< that goes on pulling
    double time;
} bond_pull;

typedef struct bond_end {
    bool holds;    ///< the bond is not broken after `time`
    double gap;    ///< between the disks
    double energy; ///< kinetic, of the relative motion
} bond_end;

/// Pull a bonded pair apart, and see whether it holds.
talus_status bond_try(paper* p, const bond_pull* def, bond_end* end);
/// Smallest value of *field, a member of *def, that breaks the bond: between 0 and `high`.
talus_status bond_find_limit(paper* p, bond_pull* def, double* field, double high, double* limit);

#endif
