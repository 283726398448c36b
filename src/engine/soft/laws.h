/// The constants of all pairs of materials, as the kernels read them.
#ifndef TALUS_SOFT_LAWS_H
#define TALUS_SOFT_LAWS_H

#include "soft/law.h"

typedef struct soft_laws {
    int materials, capacity;
    double* constants;      ///< [materials^2][SOFT_CONSTANTS], aligned to 64 bytes
    double* area_constants; ///< the same for contacts through areas of overlap
    int32_t* law_of;        ///< [materials][materials] rows of these
    bool uniform;           ///< there is one row
    soft_kind kind;
    double range; ///< longest range of a bond
} soft_laws;

void soft_laws_free(soft_laws* l);
/// Make the tables. Fails where a pair of materials has no stiffness (Hertz: no Young's modulus;
/// with polygons neither).
talus_status soft_laws_make(soft_laws* l, const materials* m, const talus_soft_def* soft, int dim,
                            bool polygons, talus_error* error);

#endif
