/// Contact problems of FCLIB.
#include "fuzz.h"

#include "record/fclib.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    talus_error error = {0};
    fclib_problem p = {0};
    const talus_status status =
        fclib_read(fuzz_file("problem.hdf5", NULL, 0, data, size), &p, &error);
    fuzz_check(status, &error);
    if (status == TALUS_OK) {
        const reduced_problem* r = &p.reduced;
        for (int64_t c = 0; c < r->count; c++) {
            FUZZ_PROMISE(r->first[c] <= r->first[c + 1]);
            for (int64_t k = r->first[c]; k < r->first[c + 1]; k++)
                FUZZ_PROMISE(r->column[k] >= 0 && r->column[k] < r->count);
        }
    }
    fclib_free(&p);
    return 0;
}
