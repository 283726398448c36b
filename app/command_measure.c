/// talus measure DIR: numbers of recorded frames.
#include "measure.h"

#include <math.h>
#include <stdlib.h>

typedef struct measure_options {
    measure_task task;
    frame_choice frames;
    bool json, force;
    const char* csv;
    bool* wanted; ///< [quantities]
    bool chosen;  ///< quantities were named
    argument_list quantities;
} measure_options;

// ---- command line ------------------------------------------------------------------------------

/// "40,20" or "40,20,10": points of a field along x, y and z; 0 leaves an axis to the library.
static bool read_cells(const char* option, const char* text, void* place)
{
    int* cells = place;
    const char* at = text;
    for (int k = 0; k < 3 && at; k++) {
        char* end;
        const long count = strtol(at, &end, 10);
        if (end == at || count < 0 || count > 100000) break;
        cells[k] = (int)count;
        if (*end == '\0') return true;
        at = *end == ',' ? end + 1 : NULL;
    }
    fprintf(stderr,
            "talus: %s needs the points along x, y and z, 0 to 100000, such as 40,20, not '%s'\n",
            option, text);
    return false;
}

static bool read_ends(const char* option, const char* text, void* place)
{
    measure_extent* out = place;
    option_range range;
    out->known = out->given = range_read(option, text, &range);
    out->low[0] = range.low;
    out->high[0] = range.high;
    return out->known;
}

/// "y=0.1": an axis and a place on it.
static bool read_gate(const char* option, const char* text, void* place)
{
    measure_task* task = place;
    char* end = NULL;
    task->gate_axis = text[0] - 'x';
    const bool axis = task->gate_axis >= 0 && task->gate_axis < 3 && text[1] == '=';
    if (axis) task->gate_at = strtod(text + 2, &end);
    if (axis && end != text + 2 && *end == '\0' && isfinite(task->gate_at)) return true;
    fprintf(stderr, "talus: %s needs an axis and a place, such as y=0.1, not '%s'\n", option, text);
    return false;
}

static const option_row options[] = {
    {.name = "frame",
     .value = "F",
     .meaning = "a number from 0, A:B, A:B:STRIDE, last or all",
     .otherwise = "last",
     .type = OPTION_READ,
     .place = offsetof(measure_options, frames),
     .read = frames_read},
    OPTION_ROW_TIME(measure_options),
    {.name = "region",
     .value = "x=A:B,y=C:D",
     .meaning = "measure only in this box; an end may be left out",
     .type = OPTION_READ,
     .place = offsetof(measure_options, task.def.region),
     .read = region_read},
    {.name = "volume",
     .value = "V",
     .meaning = "volume (2D: area) of stresses",
     .otherwise = "region, cell or box around grains",
     .type = OPTION_NUMBER,
     .place = offsetof(measure_options, task.def.volume)},
    {.name = "flow",
     .value = "mean|linear",
     .meaning = "velocity field that fluctuations are relative to",
     .otherwise = "mean",
     .type = OPTION_CHOICE,
     .place = offsetof(measure_options, task.def.flow)},
    {.name = "bins",
     .value = "N",
     .meaning = "bins of histograms",
     .otherwise = "24",
     .type = OPTION_COUNT,
     .place = offsetof(measure_options, task.def.bins),
     .low = 1},
    {.name = "cut",
     .value = "X",
     .meaning = "strong forces exceed X times the mean",
     .otherwise = "1",
     .type = OPTION_NUMBER,
     .place = offsetof(measure_options, task.def.cut)},
    {.name = "axis",
     .value = "x|y|z",
     .meaning = "profile: slices across this axis",
     .otherwise = "the last",
     .type = OPTION_CHOICE,
     .place = offsetof(measure_options, task.axis)},
    {.name = "radial",
     .meaning = "profile: shells about that axis instead",
     .type = OPTION_FLAG,
     .place = offsetof(measure_options, task.radial)},
    {.name = "ends",
     .value = "LOW:HIGH",
     .meaning = "profile: its two ends",
     .otherwise = "all of the space",
     .type = OPTION_READ,
     .place = offsetof(measure_options, task.ends),
     .read = read_ends},
    {.name = "slope",
     .value = "heap|plane",
     .meaning = "slope: fit two flanks (3D: a cone), or one flat surface",
     .otherwise = "heap",
     .type = OPTION_CHOICE,
     .place = offsetof(measure_options, task.slope)},
    {.name = "column",
     .value = "W",
     .meaning = "slope: width of a column",
     .otherwise = "2 mean diameters",
     .type = OPTION_POSITIVE,
     .place = offsetof(measure_options, task.column)},
    {.name = "touching",
     .meaning = "slope: leave out grains without a contact force",
     .type = OPTION_FLAG,
     .place = offsetof(measure_options, task.touching)},
    {.name = "gate",
     .value = "y=0.1",
     .meaning = "flux: the plane; downwards, or along x or y, is positive",
     .type = OPTION_READ,
     .place = offsetof(measure_options, task),
     .read = read_gate},
    {.name = "inner-cells",
     .meaning = "voronoi: leave out cells that walls or the box's sides cut",
     .type = OPTION_FLAG,
     .place = offsetof(measure_options, task.inner)},
    {.name = "range",
     .value = "R",
     .meaning = "rdf: largest distance",
     .otherwise = "5 mean diameters",
     .type = OPTION_POSITIVE,
     .place = offsetof(measure_options, task.rdf_range)},
    {.name = "edge",
     .value = "inner|shell",
     .meaning = "rdf: near the sides of the space, leave out grains closer to them than the range, "
                "or count the part of each shell that is inside",
     .otherwise = "shell",
     .type = OPTION_CHOICE,
     .place = offsetof(measure_options, task.edge)},
    {.name = "kernel",
     .value = "gauss|lucy|heaviside",
     .meaning = "field: its kernel",
     .otherwise = "gauss",
     .type = OPTION_CHOICE,
     .place = offsetof(measure_options, task.kernel)},
    {.name = "width",
     .value = "W",
     .meaning = "field: width of the kernel",
     .otherwise = "mean diameter; lucy and heaviside: twice that",
     .type = OPTION_POSITIVE,
     .place = offsetof(measure_options, task.field_width)},
    {.name = "cells",
     .value = "NX,NY,NZ",
     .meaning = "field: points along each axis",
     .otherwise = "half a width apart; 3D: a width",
     .type = OPTION_READ,
     .place = offsetof(measure_options, task.cells),
     .read = read_cells},
    {.name = "no-walls",
     .meaning =
         "leave contacts with walls, fixed and glued grains out of fabric, forces and networks",
     .type = OPTION_NOT,
     .place = offsetof(measure_options, task.def.boundaries)},
    {.name = "csv",
     .value = "FILE",
     .kind = &value_file,
     .meaning = "write a row for each frame into FILE, and tables into FILE-TABLE.csv",
     .type = OPTION_TEXT,
     .place = offsetof(measure_options, csv)},
    {.name = "force",
     .meaning = "overwrite existing files",
     .type = OPTION_FLAG,
     .place = offsetof(measure_options, force)},
    {.name = "json",
     .meaning = "print one JSON object on standard output",
     .type = OPTION_FLAG,
     .place = offsetof(measure_options, json)},
    {0},
};

static const char* quantity_word(int index)
{
    int count;
    const measure_quantity* list = measure_quantities(&count);
    return index < count ? list[index].name : NULL;
}

const value_kind value_quantity = {
    .source = VALUE_WORD, .one = "quantity", .many = "quantities", .word = quantity_word};

/// Mark the quantities that were named, or those that are measured without being named. Returns
/// exit status.
static int choose_quantities(measure_options* o)
{
    int count;
    const measure_quantity* list = measure_quantities(&count);
    o->chosen = o->quantities.count > 0;
    o->wanted = calloc((size_t)count, sizeof *o->wanted);
    if (!o->wanted) {
        fprintf(stderr, "talus: out of memory\n");
        return STATUS_FAILURE;
    }
    for (int i = 0; i < count; i++) {
        o->wanted[i] = !o->chosen && !(list[i].flags & MEASURE_NAMED);
    }
    for (int k = 0; k < o->quantities.count; k++) {
        const int found = value_find(&value_quantity, o->quantities.items[k]);
        if (found < 0) return STATUS_USAGE;
        o->wanted[found] = true;
    }
    return STATUS_OK;
}

// ---- measuring ---------------------------------------------------------------------------------

/// Leave out what needs contacts if they are not recorded; false if that was asked for by name.
static bool check_contacts(measure_options* o, const talus_recording* recording)
{
    int count, left = 0;
    const measure_quantity* list = measure_quantities(&count);
    if (talus_recording_has_contacts(recording)) return true;
    for (int i = 0; i < count; i++) {
        if (!o->wanted[i] || !(list[i].flags & MEASURE_CONTACTS)) continue;
        if (o->chosen) {
            fprintf(stderr,
                    "talus: %s needs contacts, which this run does not record: its scene has "
                    "output.contacts: false\n",
                    list[i].name);
            return false;
        }
        o->wanted[i] = false;
        left++;
    }
    if (left > 0) {
        fprintf(stderr, "talus: %d quantities need contacts, which this run does not record\n",
                left);
    }
    return true;
}

/// Show one of the frames chosen.
static bool show_frame(measure_task* task, int64_t i)
{
    task->out->frame = i;
    task->frame = task->frames.first + i * task->frames.stride;
    if (!recording_show(task->recording, task->frame, &task->world)) return false;
    task->dim = talus_world_options(task->world)->dim;
    return region_fits(&task->def.region, task->dim);
}

/// Look at all frames for what has to be the same in each. What fails here fails again and is told
/// when it is measured.
static bool look_at_frames(measure_options* o)
{
    int count;
    const measure_quantity* list = measure_quantities(&count);
    bool wanted = false;
    for (int q = 0; q < count; q++) wanted |= o->wanted[q] && list[q].look;
    for (int64_t i = 0; i < o->task.frames.count && wanted && o->task.frames.count > 1; i++) {
        if (!show_frame(&o->task, i)) return false;
        for (int q = 0; q < count; q++) {
            talus_error unimportant;
            if (o->wanted[q] && list[q].look) list[q].look(&o->task, &unimportant);
        }
    }
    return true;
}

/// A region beside all grains is measured like any other, but hardly what was meant.
static void note_empty_region(const measure_task* task)
{
    talus_energy energy;
    talus_error unimportant;
    if (talus_measure_energy(task->world, &task->def, &energy, &unimportant) == TALUS_OK &&
        energy.grains == 0)
        fprintf(stderr, "talus: frame %lld has no free grain in what is measured\n",
                (long long)task->frame);
}

static bool measure_frames(measure_options* o)
{
    int count;
    const measure_quantity* list = measure_quantities(&count);
    measure_task* task = &o->task;
    bool* told = calloc((size_t)count, sizeof *told);
    bool good = told != NULL;
    if (!told) fprintf(stderr, "talus: out of memory\n");
    for (int64_t i = 0; i < task->frames.count && good; i++) {
        good = show_frame(task, i);
        if (good && i == 0) note_empty_region(task);
        for (int q = 0; q < count && good; q++) {
            if (!o->wanted[q] || ((list[q].flags & MEASURE_ONCE) && i + 1 < task->frames.count))
                continue;
            task->out->order = q;
            talus_error error = {0};
            task->out->quantity = list[q].name;
            if (list[q].measure(task, &error) < 0 && !told[q]) { // its numbers stay undefined
                fprintf(stderr, "talus: frame %lld has no %s: %s\n", (long long)task->frame,
                        list[q].name, error.text);
                told[q] = true;
            }
            good = task->world != NULL; // the frame could not be read a second time, as was told
        }
    }
    for (int q = 0; q < count && good; q++) {
        if (o->wanted[q] && list[q].finish) list[q].finish(task);
    }
    free(told);
    if (task->out->failed) fprintf(stderr, "talus: out of memory\n");
    return good && !task->out->failed;
}

/// Was something found of every quantity that was asked for by name?
static bool found_all(const measure_options* o)
{
    int count;
    const measure_quantity* list = measure_quantities(&count);
    const measured* m = o->task.out;
    for (int q = 0; q < count; q++) {
        bool found = !o->chosen || !o->wanted[q];
        for (int i = 0; i < m->number_count; i++) found |= m->number[i].quantity == list[q].name;
        if (!found) return false;
    }
    return true;
}

static bool show_result(const measure_options* o, const talus_recording* recording)
{
    const measure_style style = {.reduced = talus_recording_reduced_units(recording),
                                 .dim = o->task.dim,
                                 .tables = o->chosen,
                                 .title = talus_recording_title(recording)};
    if (o->task.out->number_count == 0) return false; // why has been told
    measured_drop_mixed(o->task.out, o->chosen || o->csv || o->json);
    if (o->csv && !measure_write_csv(o->csv, &o->task, &style, o->force)) return false;
    if (o->json)
        measure_write_json(stdout, &o->task, &style);
    else
        measure_print(&o->task, &style);
    return true;
}

static int measure_with(measure_options* o)
{
    talus_recording* recording = NULL;
    measured out = {0};
    if (!recording_open(o->task.directory, &recording)) return STATUS_FAILURE;
    o->task.recording = recording;
    o->task.out = &out;
    bool good =
        frames_of(recording, &o->frames, false, &o->task.frames) && check_contacts(o, recording);
    if (good) {
        out.frames = o->task.frames.count;
        good = look_at_frames(o) && measure_frames(o) && show_result(o, recording) && found_all(o);
    }
    measured_free(&out);
    talus_places_free(&o->task.places);
    talus_recording_close(recording);
    return good ? STATUS_OK : STATUS_FAILURE;
}

static int measure(int argc, char** argv)
{
    measure_options o = {.task = {.def = talus_measure_default(),
                                  .axis = -1,
                                  .gate_axis = -1,
                                  .edge = TALUS_RDF_SHELL}}; // the range may exceed the box
    int status = options_read(&command_measure, argc, argv, &o);
    if (status == OPTIONS_GOOD) {
        status = choose_quantities(&o);
        if (status == STATUS_OK) status = measure_with(&o);
    }
    free(o.wanted);
    return status;
}

const command command_measure = {
    .name = "measure",
    .usage = "measure DIR [QUANTITY...] [--frame N|A:B|last|all] [options]",
    .summary = "measure stress, fabric, forces, energies and more in recorded frames",
    .about = "Prints the numbers of one frame, or mean, spread and extremes over several.\n"
             "Without a QUANTITY, measures those of the first two lines. One that you name is "
             "printed with\n"
             "its tables:\n\n"
             "  stress fabric coordination forces mobility networks energy rheology budget\n"
             "  packing voronoi rdf\n"
             "  profile field slope flux\n",
    .options = options,
    .notes = "Definitions: docs/measure.md.\n",
    .examples = "  talus measure runs/biaxial\n"
                "  talus measure runs/biaxial stress fabric --frame 10:20 --csv stress.csv\n"
                "  talus measure runs/silo rheology --region x=0.1:0.2,y=:0.5 --frame all --json\n",
    .first = {.what = "the directory of a run",
              .kind = &value_folder,
              .place = offsetof(measure_options, task.directory)},
    .rest = {.what = "quantities",
             .kind = &value_quantity,
             .place = offsetof(measure_options, quantities)},
    .function = measure,
};
