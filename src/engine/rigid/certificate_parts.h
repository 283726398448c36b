/// What the certificate of a cluster (certificate.c) is made of, contact by contact
/// (certificate_bracket.c).
#ifndef TALUS_RIGID_CERTIFICATE_PARTS_H
#define TALUS_RIGID_CERTIFICATE_PARTS_H

#include "rigid/problem.h"

/// Motions to compare with: the solver's own, and rest.
enum { IN_MOTION, AT_REST, MOTIONS };

/// What is lighter than this part of the heaviest body of its cluster; certificate.c says why.
static const double LIGHT = 0.01;

typedef struct cluster_sums {
    double gap[MOTIONS];     ///< sum of the brackets, twice
    double lacking[MOTIONS]; ///< what violated contacts may cost beyond that, twice
    double distance2;        ///< ||rest - V||_M^2
    double effect2, free2;   ///< ||V - V_free||_M^2, ||V_free||_M^2
    double single2;          ///< sum of |p|^2/m_n: what the contacts would do one by one
    double rubbing2;         ///< square of what friction at its bound does, contact by contact
    double unsettled2;       ///< the same of friction that violated contacts may still get
    double unsure2;          ///< the same of friction of contacts that may not bear at all
    double gripping2;        ///< the same of friction of contacts that may come to bear more
    double stray;            ///< largest normal speed of a contact that bears,
    double light_stray;      ///< and the largest divided by m_n
    double strongest;        ///< largest normal impulse
    double mass, heaviest;
    bool friction, rolling;   ///< some contact has friction, bounded torques
    uint32_t low[3], high[3]; ///< cells of the curve that its grains lie in
    int64_t bodies, contacts; ///< bodies that move, contacts of theirs,
    int64_t sliding;          ///< those of them that slide,
    int64_t walls;            ///< and those with bodies that do not move
    double wall_velocity[3];  ///< sum over those walls
    double momentum[3];       ///< free
    double velocity[3];       ///< of rest
    double length;            ///< its extent in mean diameters
    int best;                 ///< which motion gives the smaller bound
} cluster_sums;

/// What the friction of a contact does beside its bracket: squares of changes of the velocities;
/// torques count as impulses at the radius.
typedef struct friction_work {
    double lacking;   ///< twice what a violated contact may cost beyond its bracket
    double rubbing;   ///< that which is at its bound
    double unsettled; ///< that which the impulse that ends a violation may bring
    double unsure;    ///< that which is lost if the contact does not bear
    double gripping;  ///< that which comes if a contact bears more, or bears at all
} friction_work;

/// Twice the bracket of contact c, of a cluster with these sums, for the motion in `rows`.
double certificate_bracket(const problem* p, int64_t c, const cluster_sums* s, const double* rows,
                           friction_work* work);

#endif
