/// Wall-clock time for stage timers and schedules.
#ifndef TALUS_BASE_CLOCK_H
#define TALUS_BASE_CLOCK_H

/// Seconds on a monotonic clock.
double clock_seconds(void);

#endif
