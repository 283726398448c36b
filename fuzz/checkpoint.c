/// Saved worlds, which are checkpoints: the input is what the hash covers.
#include "fuzz.h"

#include "base/hash.h"

#include <inttypes.h>
#include <talus/record.h>

enum { HEADER_BYTES = 512 }; // record/checkpoint.c

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char header[HEADER_BYTES] = "";
    snprintf(header, sizeof header, "talus-checkpoint 10\nsize %zu\nhash %016" PRIx64 "\n", size,
             hash_bytes(HASH_START, data, size));
    const char* path = fuzz_file("world.h5", header, sizeof header, data, size);
    talus_error error = {0};
    talus_world* world = NULL;
    talus_world_def options = talus_world_default();
    options.threads = 1;
    const talus_status status = talus_world_load(path, &options, &world, &error);
    fuzz_check(status, &error);
    if (status == TALUS_OK) {
        talus_step_result result = {0};
        fuzz_check(talus_world_step(world, 1e-4, &result, &error), &error);
    }
    talus_world_destroy(world);
    return 0;
}
