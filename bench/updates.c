/// Contact updates per second of one core, and bytes per grain and per contact, of disks and
/// spheres: rate.h says how.
#include "rate.h"

int main(void)
{
    const int side[2] = {40, 10}, high[2] = {25, 10}, times[2] = {1600, 36}, memory[2] = {30, 6};
    measure_packings(GRAIN_BALLS, side, high, times, memory);
    return 0;
}
