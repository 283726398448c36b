/// A soft contact in lanes: what the law is told and what it answers. For kernels only: the lanes
/// are those of the vector width that the including file is compiled with.
#ifndef TALUS_SOFT_LAW_LANES_H
#define TALUS_SOFT_LAW_LANES_H

#include "base/lanes.h"
#include "soft/law.h"

/// As soft_meetings (soft/law.h), which explains the fields.
typedef struct law_in {
    lane_mask touching; ///< overlap > 0
    lane_mask touched;  ///< the contact existed at the last evaluation
    lanes overlap;      ///< < 0: gap, of bonds that hold at a distance
    lanes n[3], last_n[3];
    lanes velocity[3], moved[3];
    lanes spin[3], turned[3]; ///< compound laws only
    lanes twist;              ///< 3D only
    lanes root_mass;          ///< root of the reduced mass
    lanes curvature;          ///< Hertz and compound laws
} law_in;

typedef struct law_history {
    lanes slip[3];    ///< 2D: [0]
    lanes roll[3];    ///< compound laws only; 2D: [0]
    lane_mask bonded; ///< compound laws only, like slid
    lane_mask slid;   ///< it was sliding: the sliding friction counts until it sticks
} law_history;

typedef struct law_out {
    lanes force[3];  ///< on b; 0 where there is no contact
    lanes torque[3]; ///< compound laws only
    lanes elastic;   ///< energy of the springs
    /// Lost since the last evaluation: sliding, and dashpots as h * power. A contact that has just
    /// opened (touched, not touching) still loses what its springs held.
    lanes loss;
    lanes power; ///< of the dashpots
    lane_mask active, sliding;
} law_out;

#endif
