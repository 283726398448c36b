/// Loops over threads that give the same bits for any number of them.
///
/// A loop whose turns do not see each other needs only parallel_threads(). A sum of doubles depends
/// on its order: it is made chunk by chunk, where the chunks follow from the number of items alone,
/// and the chunks' results are put together in order. Up to PARALLEL_CHUNK items there is one
/// chunk: a plain loop.
#ifndef TALUS_BASE_PARALLEL_H
#define TALUS_BASE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PARALLEL_LEAST = 4000, ///< items below which starting threads costs more than it gains
    PARALLEL_CHUNK = 1024, ///< items of a chunk, at least: 10^4 grains are dealt out evenly
    PARALLEL_CHUNKS = 256, ///< chunks, at most
    PARALLEL_WIDTH = 8,    ///< numbers that a loop can put together, at most
};

/// How many threads to use for `count` items when `threads` are allowed.
static inline int parallel_threads(int threads, int64_t count)
{
    return threads > 1 && count >= PARALLEL_LEAST ? threads : 1;
}
/// Is a plain loop the thing to do? A team of one thread costs a few hundred nanoseconds too, more
/// than all the work of a step of two grains: loops of every soft step ask this before a region.
static inline bool parallel_is_plain(int threads, int64_t count)
{
    return parallel_threads(threads, count) == 1;
}

/// How many chunks `count` items make, and which items belong to one of them.
static inline int64_t parallel_chunk_size(int64_t count)
{
    const int64_t even = (count + PARALLEL_CHUNKS - 1) / PARALLEL_CHUNKS;
    return even > PARALLEL_CHUNK ? even : PARALLEL_CHUNK;
}
static inline int parallel_chunks(int64_t count)
{
    const int64_t size = parallel_chunk_size(count);
    return (int)((count + size - 1) / size);
}
static inline int64_t parallel_first(int64_t count, int chunk)
{
    const int64_t first = chunk * parallel_chunk_size(count);
    return first < count ? first : count;
}

/// How the numbers of two chunks are put together.
typedef enum parallel_merge { PARALLEL_SUM, PARALLEL_MIN, PARALLEL_MAX } parallel_merge;

/// Work on the items [first, last) and put the numbers of these into out[width], which begins as
/// the neutral element: 0, INFINITY or -INFINITY.
typedef void parallel_work(void* data, int64_t first, int64_t last, double* out);

/// Do all items and put the numbers of the chunks together into out[width].
void parallel_reduce(int threads, int64_t count, parallel_merge merge, int width,
                     parallel_work* work, void* data, double* out);

#endif
