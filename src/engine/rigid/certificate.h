/// A certificate of a step's accuracy: an upper bound on the error of its velocities.
///
/// residual.h estimates the error from what the contacts lack, and an estimate can be wrong. Here
/// the duality gap of the step's own minimum principle bounds it; certificate.c derives how, and
/// says what is a theorem of it and what is not. Each cluster of touching bodies is judged by
/// itself: a heavy neighbour far away hides nothing.
#ifndef TALUS_RIGID_CERTIFICATE_H
#define TALUS_RIGID_CERTIFICATE_H

#include "rigid/body_clusters.h"

/// What is known of a cluster.
typedef struct cluster_certificate {
    double bound;  ///< on ||V - V*||_M / ||V - V_free||_M, V* the exact velocities; INFINITY: none,
                   ///< all that contacts do may be wrong
    double plain;  ///< the same without what few contacts and violated ones with friction may cost:
                   ///< for solvers, which need a measure of progress and no word for others
    double frozen; ///< what is proved for friction bounds as they are: nothing is added for
                   ///< friction that follows the normal impulses, or that may come
    double scale;  ///< ||V - V_free||_M, what the contacts do, or the least that counts
    int64_t bodies; ///< that move
    int64_t contacts;
    int64_t sliding; ///< of these at their bound of friction, and moving
    bool resting;    ///< the plain bound is that by comparison with rest
    bool assumed;    ///< the bound is no theorem: it rests on assumptions about friction
    bool witnessed;  ///< it is the distance to an exact solution (witness.h)
} cluster_certificate;

typedef struct certificate {
    double bound;           ///< of the worst cluster; 0 where no contact does anything
    double plain;           ///< largest plain bound of a cluster
    int64_t cluster;        ///< which one that is, -1: none
    int64_t row;            ///< the body to whose contacts most of its gap belongs, -1: none
    double row_error;       ///< of the worst body of all: certificate_work.row_error
    int64_t worst_row;      ///< which one that is, -1: none
    int64_t cluster_bodies; ///< of the worst cluster
    bool sliding; ///< contacts of the worst cluster slide, and its bound, if it has one, is for
                  ///< frozen friction
} certificate;

/// Memory of certificates, and what the last one found.
typedef struct certificate_work {
    body_clusters clusters;
    int64_t row_capacity, contact_capacity, cluster_capacity;
    double* rest;        ///< [rows][stride] a motion to compare with
    int32_t* of_contact; ///< [contacts] its cluster
    double* terms; ///< [contacts][TERMS] gap at each contact for the two motions, and friction
    struct cluster_sums* sums; ///< [clusters]
    cluster_certificate* of;   ///< [clusters]
    int32_t largest;           ///< the cluster with most bodies, -1: there is none
    double* row_error; ///< [rows] share of the bound that belongs to a body and its contacts,
                       ///< relative to what contacts do to it; an estimate, not a bound
} certificate_work;

void certificate_free(certificate_work* work);
/// Judge the impulses of a problem, whose velocities agree with them (problem_refresh).
talus_status certificate_find(certificate_work* work, const problem* p, int threads,
                              certificate* out);
/// An exact solution of cluster k has been looked for: its velocities are off by no more than
/// `error`, INFINITY if none was found.
void certificate_correct(certificate_work* work, int64_t k, double error);
/// The worst of all clusters and bodies.
void certificate_worst(const certificate_work* work, const problem* p, int threads,
                       certificate* out);

#endif
