/// The numbers that kernels in lanes work on: double, or float in the files that define
/// PACKED_SINGLE before they include the kernels. Every kernel is written once, in terms of `real`.
#ifndef TALUS_BASE_REAL_H
#define TALUS_BASE_REAL_H

#ifdef PACKED_SINGLE
typedef float real;
#else
typedef double real;
#endif

#endif
