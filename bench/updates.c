/// Contact updates per second of one core, and bytes per grain and per contact, of disks and
/// spheres.
///
/// The contact problem of a settled packing's next step is solved with a fixed number of sweeps
/// from its warm start. The time counted is that of the solver alone: sweeps, the two refreshes and
/// the final residual, which together cost about three sweeps.
#include "packing.h"

int main(void)
{
    const int side[2] = {40, 10}, high[2] = {25, 10}, times[2] = {300, 16}, memory[2] = {30, 6};
    measure_packings(GRAIN_BALLS, side, high, times, memory);
    return 0;
}
