/// Witnesses: what is claimed of clusters of few contacts is checked by solving them.
///
/// The certificate rests on assumptions about friction (certificate.c), and these hold least where
/// contacts are few, since nothing averages out. But a few contacts are soon solved to the last
/// digits. Then the error need not be bounded: it is the distance to that solution, the witness.
#ifndef TALUS_RIGID_WITNESS_H
#define TALUS_RIGID_WITNESS_H

#include "rigid/certificate.h"

/// Memory of witnesses.
typedef struct witness_work {
    problem part;  ///< all clusters in question
    problem alone; ///< one of them
    certificate_work judge, direct_judge;
} witness_work;

void witness_free(witness_work* work);
/// Check what `claims` says of the clusters of few contacts of a problem, and correct it; `out` is
/// what follows for the problem. The problem itself is left as it is.
talus_status witness_claims(certificate_work* claims, const problem* p, int threads,
                            witness_work* work, certificate* out);

#endif
