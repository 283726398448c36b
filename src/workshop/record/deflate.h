/// Chunks as HDF5's shuffle and deflate filters would make them, but without the time that deflate
/// spends on noise.
#ifndef TALUS_RECORD_DEFLATE_H
#define TALUS_RECORD_DEFLATE_H

#include <stddef.h>

/// Shuffle `count` elements of `element` bytes and deflate them. *out is on the heap, of *out_size
/// bytes, or NULL when memory is short. Returns the mask of filters left out: bit 1 when deflate
/// would not have made it smaller.
unsigned deflate_chunk(const void* data, size_t count, size_t element, void** out,
                       size_t* out_size);

#endif
