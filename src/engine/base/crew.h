/// Threads that help with work of which no step must wait for them.
///
/// A team of OpenMP waits at the end of a loop until every thread has come by. On a machine whose
/// cores are shared with others that can take longer than the loop itself. The helpers of a crew
/// take items as long as there are any; whoever leads takes them too, and waits for nothing but
/// items that a helper has begun. A helper that gets no core costs nothing.
#ifndef TALUS_BASE_CREW_H
#define TALUS_BASE_CREW_H

#include <stdint.h>

typedef struct crew crew;

/// Work on item number `item`. It may wait for items with smaller numbers, which somebody has begun
/// before.
typedef void crew_work(void* data, int64_t item);

/// Do the items 0 ... count - 1, begun in this order by up to `threads` threads; returns when all
/// are done. *of is made on first use (NULL before); without memory or threads the caller does all.
void crew_do(crew** of, int threads, int64_t count, crew_work* work, void* data);
/// Send the helpers home. Not while a crew is at work.
void crew_free(crew* c);

#endif
