/// NVIDIA's driver, libcuda.so.1, opened at run time: the few types and functions of its interface
/// that card.c uses. Names and numbers are those of the driver API; where it has several versions
/// of a function, the name has the version.
#ifndef TALUS_CARD_DRIVER_H
#define TALUS_CARD_DRIVER_H

#include <stddef.h>
#include <talus/base.h>

typedef int driver_device;
typedef unsigned long long driver_address;
typedef struct driver_context* driver_context;
typedef struct driver_module* driver_module;
typedef struct driver_function* driver_function;
typedef struct driver_stream* driver_stream;
typedef struct driver_event* driver_event;

/// Results that are told apart.
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
    CUDA_ERROR_INVALID_PC = 718,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_ERROR_UNKNOWN = 999,
};

/// Attributes of a device, of a kernel, options of a module, flags.
enum {
    DEVICE_CLOCK_RATE = 13,
    DEVICE_MULTIPROCESSOR_COUNT = 16,
    DEVICE_MEMORY_CLOCK_RATE = 36,
    DEVICE_MEMORY_BUS_WIDTH = 37,
    DEVICE_CAPABILITY_MAJOR = 75,
    DEVICE_CAPABILITY_MINOR = 76,
    DEVICE_SHARED_PER_BLOCK_OPTIN = 97,
    FUNCTION_MAX_DYNAMIC_SHARED = 8,
    JIT_ERROR_LOG = 5,
    JIT_ERROR_LOG_SIZE = 6,
    STREAM_NON_BLOCKING = 1,
    EVENT_WITH_TIME = 0,
    EVENT_DISABLE_TIMING = 2,
};

/// The functions: result 0 is success.
#define DRIVER_FUNCTIONS(F)                                                                        \
    F(cuInit, unsigned flags)                                                                      \
    F(cuDriverGetVersion, int* version)                                                            \
    F(cuDeviceGetCount, int* count)                                                                \
    F(cuDeviceGet, driver_device* device, int index)                                               \
    F(cuDeviceGetName, char* name, int size, driver_device device)                                 \
    F(cuDeviceTotalMem_v2, size_t* bytes, driver_device device)                                    \
    F(cuDeviceGetAttribute, int* value, int attribute, driver_device device)                       \
    F(cuCtxCreate_v2, driver_context* context, unsigned flags, driver_device device)               \
    F(cuCtxDestroy_v2, driver_context context)                                                     \
    F(cuCtxPushCurrent_v2, driver_context context)                                                 \
    F(cuCtxPopCurrent_v2, driver_context* context)                                                 \
    F(cuMemGetInfo_v2, size_t* free, size_t* all)                                                  \
    F(cuMemAlloc_v2, driver_address* at, size_t bytes)                                             \
    F(cuMemFree_v2, driver_address at)                                                             \
    F(cuMemHostAlloc, void** at, size_t bytes, unsigned flags)                                     \
    F(cuMemFreeHost, void* at)                                                                     \
    F(cuMemcpyHtoDAsync_v2, driver_address to, const void* from, size_t bytes,                     \
      driver_stream stream)                                                                        \
    F(cuMemcpyDtoHAsync_v2, void* to, driver_address from, size_t bytes, driver_stream stream)     \
    F(cuMemcpyDtoDAsync_v2, driver_address to, driver_address from, size_t bytes,                  \
      driver_stream stream)                                                                        \
    F(cuMemsetD8Async, driver_address at, unsigned char byte, size_t bytes, driver_stream stream)  \
    F(cuStreamCreate, driver_stream* stream, unsigned flags)                                       \
    F(cuStreamSynchronize, driver_stream stream)                                                   \
    F(cuEventCreate, driver_event* event, unsigned flags)                                          \
    F(cuEventRecord, driver_event event, driver_stream stream)                                     \
    F(cuEventSynchronize, driver_event event)                                                      \
    F(cuEventElapsedTime, float* milliseconds, driver_event begin, driver_event end)               \
    F(cuModuleLoadDataEx, driver_module* module, const void* image, unsigned options, int* option, \
      void** value)                                                                                \
    F(cuModuleGetFunction, driver_function* function, driver_module module, const char* name)      \
    F(cuFuncSetAttribute, driver_function function, int attribute, int value)                      \
    F(cuOccupancyMaxActiveBlocksPerMultiprocessor, int* blocks, driver_function function,          \
      int threads, size_t shared)                                                                  \
    F(cuLaunchKernel, driver_function function, unsigned blocks_x, unsigned blocks_y,              \
      unsigned blocks_z, unsigned threads_x, unsigned threads_y, unsigned threads_z,               \
      unsigned shared, driver_stream stream, void** parameters, void** extra)                      \
    F(cuGetErrorName, int result, const char** name)

typedef struct driver {
#define DRIVER_MEMBER(name, ...) int (*name)(__VA_ARGS__);
    DRIVER_FUNCTIONS(DRIVER_MEMBER)
#undef DRIVER_MEMBER
    int version; ///< 12040: CUDA 12.4
} driver;

/// Open the library and the driver. It stays open until the program ends, as it wants to be.
talus_status driver_open(driver* d, talus_error* error);
/// Name of a result, "CUDA_ERROR_LAUNCH_TIMEOUT".
const char* driver_result_name(const driver* d, int result);
/// What a result means and what to do about it, for whoever runs a simulation.
const char* driver_result_meaning(int result);

#endif
