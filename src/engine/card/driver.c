#include "card/driver.h"

#include "base/error.h"

#include <dlfcn.h>
#include <string.h>

static const char LIBRARY[] = "libcuda.so.1";

typedef struct result_meaning {
    int result;
    const char* meaning;
} result_meaning;

#define A_MISTAKE_OF_OURS                                                                          \
    "A kernel went wrong: that is a mistake in Talus, please report it with the scene; "           \
    "--device cpu does without"

static const result_meaning MEANINGS[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, "There is too little memory: other programs may be using it"},
    {CUDA_ERROR_STUB_LIBRARY, "libcuda.so.1 is the empty one that comes with the CUDA toolkit: "
                              "install NVIDIA's driver, or take the stub off LD_LIBRARY_PATH"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE,
     "Another program has the card for itself: wait for it, or choose another card"},
    {CUDA_ERROR_NO_DEVICE, "The driver is there, but finds no card (CUDA_VISIBLE_DEVICES may hide "
                           "it, and a container has to be started with it)"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, "Its memory has an error that it could not correct: restart the "
                                   "machine, and have the card looked at if that comes again"},
    {CUDA_ERROR_INVALID_PTX, "Its driver does not understand the kernels: update the driver"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "Its driver cannot make the kernels fit this card"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
     "Its driver is too old for the kernels: update the driver"},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, "Its connection to other cards has failed: restart the "
                                      "machine"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, A_MISTAKE_OF_OURS},
    {CUDA_ERROR_ASSERT, A_MISTAKE_OF_OURS},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, A_MISTAKE_OF_OURS},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, A_MISTAKE_OF_OURS},
    {CUDA_ERROR_MISALIGNED_ADDRESS, A_MISTAKE_OF_OURS},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, A_MISTAKE_OF_OURS},
    {CUDA_ERROR_INVALID_PC, A_MISTAKE_OF_OURS},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, A_MISTAKE_OF_OURS},
    {CUDA_ERROR_NOT_FOUND, A_MISTAKE_OF_OURS},
    {CUDA_ERROR_LAUNCH_FAILED, "A kernel broke off, by a mistake in Talus or because the card was "
                               "lost: look at the output of dmesg and nvidia-smi"},
    {CUDA_ERROR_LAUNCH_TIMEOUT,
     "The driver stopped a kernel that took too long, as it does on cards "
     "that drive a display: use another card, or --device cpu"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "The driver's services are not running yet"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
     "The driver has been updated since the machine was started: restart it"},
    {CUDA_ERROR_UNKNOWN, "The driver does not say why; the card may have been lost: look at the "
                         "output of dmesg and nvidia-smi"},
};

const char* driver_result_meaning(int result)
{
    for (size_t i = 0; i < sizeof MEANINGS / sizeof *MEANINGS; i++) {
        if (MEANINGS[i].result == result) return MEANINGS[i].meaning;
    }
    return "The driver refused a call";
}

const char* driver_result_name(const driver* d, int result)
{
    const char* name = NULL;
    if (d->cuGetErrorName(result, &name) == CUDA_SUCCESS && name) return name;
    return "an unknown error";
}

static talus_status find_functions(driver* d, void* library, talus_error* error)
{
    // A pointer to an object becomes one to a function: POSIX promises that it does.
#define FIND(function, ...)                                                                        \
    *(void**)&d->function = dlsym(library, #function);                                             \
    if (!d->function) {                                                                            \
        return error_set(error, TALUS_ERR_DEVICE,                                                  \
                         "the driver of NVIDIA cards on this machine is too old (it has no "       \
                         "%s): install a newer one",                                               \
                         #function);                                                               \
    }
    DRIVER_FUNCTIONS(FIND)
#undef FIND
    return TALUS_OK;
}

talus_status driver_open(driver* d, talus_error* error)
{
    *d = (driver){0};
    void* library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        return error_set(error, TALUS_ERR_DEVICE,
                         "no graphics card can be used: there is no driver for NVIDIA cards (%s). "
                         "Install NVIDIA's driver, start a container with the card (docker run "
                         "--gpus all), or use --device cpu",
                         dlerror());
    }
    TRY(find_functions(d, library, error));
    const int result = d->cuInit(0);
    if (result != CUDA_SUCCESS) {
        return error_set(error, TALUS_ERR_DEVICE, "no graphics card can be used. %s (%s)",
                         driver_result_meaning(result), driver_result_name(d, result));
    }
    if (d->cuDriverGetVersion(&d->version) != CUDA_SUCCESS) d->version = 0;
    return TALUS_OK;
}
