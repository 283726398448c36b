/// Time: by the wall for stage timers and schedules, of the processor for costs.
#ifndef TALUS_BASE_CLOCK_H
#define TALUS_BASE_CLOCK_H

/// Seconds on a monotonic clock.
double clock_seconds(void);
/// Seconds of processor time that all threads of the process have used.
double clock_cpu_seconds(void);

#endif
