/// Threads that help with work of which no step must wait for them.
///
/// A team of OpenMP waits at the end of a loop until every thread has come by. On a machine whose
/// cores are shared with others that can take longer than the loop itself. The helpers of a crew
/// take items as long as there are any; whoever leads takes them too, and waits for nothing but
/// items that a helper has begun. A helper that gets no core costs nothing.
///
/// Items come in waves, and every thread has its part of each. Who is done with it takes what
/// others have not begun yet. So on a quiet machine a thread does the same items in each pass, and
/// finds what they work on in the cache of its core.
#ifndef TALUS_BASE_CREW_H
#define TALUS_BASE_CREW_H

#include <stdint.h>

typedef struct crew crew;

/// Work on item number `item`. It may wait for items of earlier waves, which somebody has begun
/// before.
typedef void crew_work(void* data, int64_t item);

/// Do the items first[0] = 0 ... first[waves] - 1 by up to `threads` threads, those of each wave
/// before any of the next is begun; returns when all are done. *of is made on first use (NULL
/// before); without memory or threads the caller does all.
void crew_do(crew** of, int threads, int64_t waves, const int64_t* first, crew_work* work,
             void* data);
/// Wait a moment for another thread: at the turns 0, 1, 2, ... first without giving up the core.
void crew_wait(int turn);
/// Send the helpers home. Not while a crew is at work.
void crew_free(crew* c);

#endif
