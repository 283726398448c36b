/// frames.h5: what exports, measures and the viewer read of it, and what the viewer says then.
#include "fuzz.h"

#include "app/view.h"
#include "record/h5_trial.h"
#include "record/shapes_h5.h"

enum { MOST_FRAMES = 3 };

static void read_frame(frame_reader* reader, int64_t index)
{
    static const frame_amount amounts[] = {FRAME_HEAD, FRAME_LIST, FRAME_STATE, FRAME_FIELDS};
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        frame_data d = {0};
        talus_error error = {0};
        fuzz_check(frame_read(reader, index, amounts[i], &d, &error), &error);
        frame_data_free(&d);
    }
}

static void read_frames(const char* folder)
{
    frame_reader reader;
    shapes all = {0};
    talus_error error = {0};
    const talus_status status = frame_reader_open(folder, &reader, &error);
    fuzz_check(status, &error);
    if (status == TALUS_OK) {
        fuzz_check(shapes_read(reader.file, reader.path, reader.dim, &all, &error), &error);
        for (int64_t i = 0; i < reader.count && i < MOST_FRAMES; i++) read_frame(&reader, i);
        shapes_free(&all);
    }
    frame_reader_close(&reader);
}

/// What the server would send.
static void show_frames(const char* folder)
{
    talus_error error = {0};
    view_run run = view_run_make(folder);
    FILE* out = fopen("/dev/null", "w");
    FUZZ_PROMISE(out);
    if (view_run_refresh(&run, &error) == TALUS_OK) {
        const frame_range all = {.last = run.head_count - 1, .stride = 1};
        fuzz_check(view_write_run(&run, &all, false, out, &error), &error);
        fuzz_check(view_write_shapes(&run, out, &error), &error);
        fuzz_check(view_write_surface(&run, 0, out, &error), &error);
    }
    fclose(out);
    view_run_end(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const char* path = fuzz_file("frames.h5", NULL, 0, data, size);
    h5_quiet quiet;
    h5_silence(&quiet);
    // The program says that HDF5 crashed and ends (app/crash.c); a fuzzer would end, too.
    if (h5_try_file(path, NULL) == TALUS_OK) {
        read_frames(fuzz_folder());
        show_frames(fuzz_folder());
    }
    h5_loud(&quiet);
    return 0;
}
