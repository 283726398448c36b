/// series.csv, as measures and plots read it.
#include "fuzz.h"

#include <talus/recording.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    talus_error error = {0};
    talus_series series = {0};
    fuzz_file("series.csv", NULL, 0, data, size);
    fuzz_check(talus_series_read(fuzz_folder(), &series, &error), &error);
    talus_series_free(&series);
    return 0;
}
