/// Direct methods for what sweeps cannot do: bonds, rolling and torsion, mobile walls, very unequal
/// masses, hyperstatic frames. A cluster at a time.
#ifndef TALUS_RIGID_DIRECT_DIRECT_H
#define TALUS_RIGID_DIRECT_DIRECT_H

#include "rigid/certificate.h"

#include <talus/solver.h>

/// What is asked of direct_solve().
typedef struct direct_request {
    double bound;     ///< certificate of the impulses that are there
    double frozen;    ///< and what is proved of them for friction as it is
    bool sliding;     ///< contacts slide in them
    double tolerance; ///< of the certificate
    double work;      ///< at most, in updates of contacts
    bool spent;       ///< the sweeps of the step are used up and have not met its rule: an answer
                      ///< will do that meets it, whatever its certificate
    double estimate;  ///< what is then asked of its estimated error,
    double proof;     ///< or of what is proved for friction as it is and of the estimate as well;
                      ///< 0: that would not do
    talus_stop_rule stop; ///< that rule, one that measures (stop.h)
    double size;          ///< L/d for it (solver.h)
} direct_request;

typedef struct direct_result {
    const char* method; ///< whose answer is left; NULL: the one that was there
    double bound;       ///< certificate of what is left
    double work;        ///< done, in updates of contacts
    int64_t factorisations;
    bool loosened; ///< friction broke loose at some contacts: it has to be solved again
} direct_result;

/// Most contacts of a cluster for which it makes sense.
static inline int64_t direct_largest(int dim)
{
    return dim == 2 ? 10000 : 5000;
}

/// Less work, in updates of contacts, solves no such cluster, in which `links` pairs of bodies that
/// move touch; estimated.
double direct_least_work(const cluster_certificate* of, int64_t links, int dim);
/// Solve a problem that is one cluster; the answer with the least certificate is left in it.
/// `judge` is memory.
talus_status direct_solve(problem* part, const direct_request* request, certificate_work* judge,
                          direct_result* out);

#endif
