/// talus measure DIR: numbers of recorded frames.
#include "base/words.h"
#include "measure.h"

#include "scene/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct measure_options {
    measure_task task;
    frame_choice frames;
    bool json, force;
    const char* csv;
    bool* wanted; ///< [quantities]
    bool chosen;  ///< quantities were named
} measure_options;

// ---- command line ------------------------------------------------------------------------------

/// Place of a word in a list that ends with NULL; -1, with a message, if it is none of them.
static int read_word(const char* option, const char* text, const char* const* names)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(text, names[i]) == 0) return i;
    }
    fprintf(stderr, "talus: %s is ", option);
    for (int i = 0; names[i]; i++) {
        fprintf(stderr, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
    }
    fprintf(stderr, ", not '%s'\n", text);
    return -1;
}

static bool read_flow(const char* text, talus_flow_kind* out)
{
    static const char* const names[] = {"mean", "linear", NULL};
    const int found = read_word("--flow", text, names);
    *out = found == 1 ? TALUS_FLOW_LINEAR : TALUS_FLOW_MEAN;
    return found >= 0;
}

static bool read_edge(const char* text, talus_rdf_edge* out)
{
    static const char* const names[] = {"inner", "shell", NULL};
    const int found = read_word("--edge", text, names);
    *out = found == 0 ? TALUS_RDF_INNER : TALUS_RDF_SHELL;
    return found >= 0;
}

static bool read_kernel(const char* text, talus_kernel* out)
{
    static const char* const names[] = {"gauss", "lucy", "heaviside", NULL};
    const int found = read_word("--kernel", text, names);
    *out = found == 1   ? TALUS_KERNEL_LUCY
           : found == 2 ? TALUS_KERNEL_HEAVISIDE
                        : TALUS_KERNEL_GAUSS;
    return found >= 0;
}

/// "40,20" or "40,20,10": points of a field along x, y and z; 0 leaves an axis to the library.
static bool read_cells(const char* text, int cells[3])
{
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
            "talus: --cells needs the points along x, y and z, 0 to 100000, such as 40,20, not "
            "'%s'\n",
            text);
    return false;
}

/// A length above 0.
static bool read_length(const char* option, const char* text, double* out)
{
    if (!options_number(option, text, out)) return false;
    if (*out > 0.0 && isfinite(*out)) return true;
    fprintf(stderr, "talus: %s needs a length above 0, not '%s'\n", option, text);
    return false;
}

static bool read_ends(const char* text, measure_extent* out)
{
    out->known = out->given = range_parse("--ends", text, &out->low[0], &out->high[0]);
    return out->known;
}

/// "x", "y" or "z" at the beginning of a text; -1 if it is another letter.
static int read_axis(const char* text)
{
    return text[0] >= 'x' && text[0] <= 'z' ? text[0] - 'x' : -1;
}

static bool read_profile_axis(const char* text, int* out)
{
    *out = read_axis(text);
    if (*out >= 0 && text[1] == '\0') return true;
    fprintf(stderr, "talus: --axis is x, y or z, not '%s'\n", text);
    return false;
}

static bool read_gate(const char* text, measure_task* task)
{
    char* end = NULL;
    task->gate_axis = read_axis(text);
    if (task->gate_axis >= 0 && text[1] == '=') task->gate_at = strtod(text + 2, &end);
    if (end && end != text + 2 && *end == '\0' && isfinite(task->gate_at)) return true;
    fprintf(stderr, "talus: --gate needs an axis and a place, such as y=0.1, not '%s'\n", text);
    return false;
}

static bool read_slope(const char* text, bool* plane)
{
    static const char* const names[] = {"heap", "plane", NULL};
    const int found = read_word("--slope", text, names);
    *plane = found == 1;
    return found >= 0;
}

static bool read_option(measure_options* o, int choice)
{
    talus_measure_def* def = &o->task.def;
    int64_t bins;
    switch (choice) {
    case 'f': return frames_parse(optarg, &o->frames);
    case 't': return frames_parse_time(optarg, &o->frames);
    case 'r': return region_parse(optarg, &def->region);
    case 'v': return options_number("--volume", optarg, &def->volume);
    case 'c': return options_number("--cut", optarg, &def->cut);
    case 'n':
        if (!options_integer("--bins", optarg, 1, &bins)) return false;
        def->bins = bins < INT32_MAX ? (int)bins : INT32_MAX;
        return true;
    case 'w': return read_flow(optarg, &def->flow);
    case 'a': return read_profile_axis(optarg, &o->task.axis);
    case 'd': return o->task.radial = true;
    case 'g': return read_gate(optarg, &o->task);
    case 'l': return read_slope(optarg, &o->task.plane);
    case 'e': return read_ends(optarg, &o->task.ends);
    case 'R': return read_length("--range", optarg, &o->task.rdf_range);
    case 'E': return read_edge(optarg, &o->task.edge);
    case 'k': return read_kernel(optarg, &o->task.kernel);
    case 'W': return read_length("--width", optarg, &o->task.field_width);
    case 'C': return read_cells(optarg, o->task.cells);
    case 'm': return read_length("--column", optarg, &o->task.column);
    case 'o': return o->task.touching = true;
    case 'b': return o->task.inner = true;
    case 'i': return !(def->boundaries = false);
    case 'x': return o->force = true;
    case 's': return (o->csv = optarg) != NULL;
    case 'j': return o->json = true;
    default: return false;
    }
}

/// Mark the quantities named after the directory; all if there are none.
static bool read_quantities(measure_options* o, int count, char** words)
{
    int quantity_count;
    const measure_quantity* list = measure_quantities(&quantity_count);
    o->wanted = calloc((size_t)quantity_count, sizeof *o->wanted);
    const char** names = calloc((size_t)quantity_count, sizeof *names);
    bool good = o->wanted && names;
    for (int i = 0; i < quantity_count && good; i++) {
        names[i] = list[i].name;
        o->wanted[i] = count == 0 && !(list[i].flags & MEASURE_NAMED);
    }
    o->chosen = count > 0;
    for (int k = 0; k < count && good; k++) {
        int found = 0;
        while (found < quantity_count && strcmp(words[k], names[found]) != 0) found++;
        good = found < quantity_count;
        if (good) {
            o->wanted[found] = true;
            continue;
        }
        const char* near = nearest_name(words[k], names, quantity_count);
        fprintf(stderr, "talus: there is no quantity '%s'%s%s%s; there are", words[k],
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        for (int i = 0; i < quantity_count; i++) fprintf(stderr, " %s", names[i]);
        fputc('\n', stderr);
    }
    free(names);
    return good;
}

static bool read_options(measure_options* o, int argc, char** argv, int* status)
{
    static const struct option list[] = {
        {"frame", required_argument, NULL, 'f'},  {"time", required_argument, NULL, 't'},
        {"region", required_argument, NULL, 'r'}, {"volume", required_argument, NULL, 'v'},
        {"bins", required_argument, NULL, 'n'},   {"cut", required_argument, NULL, 'c'},
        {"flow", required_argument, NULL, 'w'},   {"no-walls", no_argument, NULL, 'i'},
        {"axis", required_argument, NULL, 'a'},   {"radial", no_argument, NULL, 'd'},
        {"gate", required_argument, NULL, 'g'},   {"slope", required_argument, NULL, 'l'},
        {"ends", required_argument, NULL, 'e'},   {"range", required_argument, NULL, 'R'},
        {"edge", required_argument, NULL, 'E'},   {"kernel", required_argument, NULL, 'k'},
        {"width", required_argument, NULL, 'W'},  {"cells", required_argument, NULL, 'C'},
        {"column", required_argument, NULL, 'm'}, {"touching", no_argument, NULL, 'o'},
        {"inner-cells", no_argument, NULL, 'b'},  {"csv", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},         {"force", no_argument, NULL, 'x'},
        {"help", no_argument, NULL, 'h'},         {0},
    };
    *status = STATUS_USAGE;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":h", list)) != -1;) {
        if (choice == 'h') {
            print_command_help(command_find("measure"));
            *status = STATUS_OK;
            return false;
        }
        if (!read_option(o, choice)) return false;
    }
    if (optind == argc) {
        options_single(argc, argv, "the directory of a run");
        return false;
    }
    o->task.directory = argv[optind];
    return read_quantities(o, argc - optind - 1, argv + optind + 1);
}

// ---- measuring ---------------------------------------------------------------------------------

/// One quantity of one frame. A failure is told once; the frame's numbers stay undefined.
static void measure_one(measure_options* o, const measure_quantity* q, bool* told)
{
    talus_error error = {0};
    o->task.out->quantity = q->name;
    if (q->measure(&o->task, &error) >= 0 || *told) return;
    fprintf(stderr, "talus: frame %lld has no %s: %s\n", (long long)o->task.frame, q->name,
            error.text);
    *told = true;
}

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

static bool measure_frames(measure_options* o)
{
    int count;
    const measure_quantity* list = measure_quantities(&count);
    measure_task* task = &o->task;
    bool* told = calloc((size_t)count, sizeof *told);
    bool good = told != NULL;
    for (int64_t i = 0; i < task->frames.count && good; i++) {
        good = show_frame(task, i);
        for (int q = 0; q < count && good; q++) {
            if (!o->wanted[q] || ((list[q].flags & MEASURE_ONCE) && i + 1 < task->frames.count))
                continue;
            task->out->order = q;
            measure_one(o, &list[q], &told[q]);
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

static int measure(measure_options* o)
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

int command_measure(int argc, char** argv)
{
    measure_options o = {.task = {.def = talus_measure_default(),
                                  .axis = -1,
                                  .gate_axis = -1,
                                  .edge = TALUS_RDF_SHELL}}; // the range may exceed the box
    int status;
    if (read_options(&o, argc, argv, &status)) status = measure(&o);
    free(o.wanted);
    return status;
}
