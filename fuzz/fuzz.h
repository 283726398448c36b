/// What fuzz targets share: LLVMFuzzerTestOneInput() of each gets bytes that mean anything or
/// nothing, and what it calls must end in order: no crash, no endless loop, no leak, no wrong bits.
///
/// A target is linked with libFuzzer (make fuzz), or with replay.c, which goes through a corpus and
/// changes it at random, as a test.
#ifndef TALUS_FUZZ_H
#define TALUS_FUZZ_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <talus/base.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// A broken promise that no sanitizer sees.
#define FUZZ_PROMISE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/// The folder of this process, in memory.
static inline const char* fuzz_folder(void)
{
    static char folder[64];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/dev/shm/talus-fuzz-%ld", (long)getpid());
        mkdir(folder, 0700);
    }
    return folder;
}

/// Put bytes in a file there; its path stays until the next call.
static inline const char* fuzz_file(const char* name, const void* head, size_t head_size,
                                    const void* data, size_t size)
{
    static char path[192];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    FILE* file = fopen(path, "w");
    FUZZ_PROMISE(file);
    if (head_size > 0) fwrite(head, 1, head_size, file);
    if (size > 0) fwrite(data, 1, size, file);
    fclose(file);
    return path;
}

/// A process that reads for us (record/apart.h) may die: that is no find of the fuzzer's.
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
static inline void fuzz_forget_child(void)
{
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(NULL);
}
__attribute__((constructor)) static inline void fuzz_begin(void)
{
    pthread_atfork(NULL, NULL, fuzz_forget_child);
}

/// An error has a sentence, and success has none to hide.
static inline void fuzz_check(talus_status status, const talus_error* error)
{
    FUZZ_PROMISE(status >= 0 || error->text[0] != '\0');
}

#endif
