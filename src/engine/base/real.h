/// The numbers that kernels in lanes work on: double, or float in the files that define
/// SINGLE_PRECISION before they include the kernels. Every kernel is written once, in terms of
/// `real`.
#ifndef TALUS_BASE_REAL_H
#define TALUS_BASE_REAL_H

#ifdef SINGLE_PRECISION
typedef float real;
#else
typedef double real;
#endif

#endif
