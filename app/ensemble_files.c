/// The tables of `talus ensemble`: ensemble.json, contacts.csv, samples.csv, histogram.csv.
#include "app.h"

#include "base/error.h"
#include "base/json.h"
#include "base/vec.h"
#include "record/files.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* start_name(unsigned start)
{
    return start == TALUS_START_ZERO ? "zero" : start == TALUS_START_WARM ? "warm" : "random";
}

// ---- JSON --------------------------------------------------------------------------------------

static void write_tensor(json* j, const char* key, int dim, const double tensor[9])
{
    json_array(j, key);
    for (int k = 0; k < dim; k++) json_vector(j, NULL, tensor + 3 * k);
    json_array_end(j);
}

void ensemble_write_json(FILE* file, const ensemble_source* source, const talus_ensemble* e)
{
    json j = json_begin(file);
    json_string(&j, "run", source->from);
    json_bool(&j, "run_finished", source->finished);
    json_number(&j, "time", talus_world_time(source->world));
    json_number(&j, "step", source->def->step);
    json_integer(&j, "dimension", e->dim);
    json_unsigned(&j, "seed", source->def->seed);
    json_number(&j, "tolerance", source->def->tolerance);
    json_integer(&j, "samples", e->samples);
    json_integer(&j, "verified", e->verified);
    json_integer(&j, "contacts", e->contacts);
    json_integer(&j, "loaded_contacts", e->loaded);
    json_number(&j, "force_change", e->force_change);
    json_number(&j, "stress_change", e->stress_change);
    json_number(&j, "histogram_distance", e->histogram_distance);
    json_number(&j, "velocity_change", e->velocity_change);
    json_number(&j, "inertia", e->inertia);
    json_array(&j, "by_start");
    for (int k = 0; k < TALUS_START_COUNT; k++) {
        int count = 0;
        for (int i = 0; i < e->samples; i++) {
            count += e->sample[i].verified && e->sample[i].start == 1u << k;
        }
        if (count == 0) continue;
        json_object(&j, NULL);
        json_string(&j, "start", start_name(1u << k));
        json_integer(&j, "samples", count);
        json_number(&j, "force_change", e->force_change_of[k]);
        json_number(&j, "stress_change", e->stress_change_of[k]);
        json_object_end(&j);
    }
    json_array_end(&j);
    write_tensor(&j, "stress_mean", e->dim, e->stress_mean);
    write_tensor(&j, "stress_spread", e->dim, e->stress_spread);
    json_number(&j, "volume", e->volume);
    int cell = 0;
    for (int k = 0; k < e->dim; k++) cell += e->volume_cell[k];
    json_string(&j, "volume_from",
                e->volume_given  ? "given"
                : cell == e->dim ? "periodic cell"
                : cell == 0      ? "box around the loaded grains"
                                 : "periodic cell and box around the loaded grains");
    json_object(&j, "indeterminacy");
    json_integer(&j, "rank", e->rank);
    json_integer(&j, "unknowns", e->unknowns);
    json_integer(&j, "equations", e->equations);
    if (e->independent >= 0) json_integer(&j, "independent_equations", e->independent);
    json_number(&j, "conditioning", e->conditioning);
    json_number(&j, "force_error", e->force_error);
    json_array(&j, "singular_values");
    for (int i = 0; i < e->verified; i++) json_number(&j, NULL, e->singular[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_string(&j, "verdict", e->verdict);
    json_end(&j);
}

// ---- CSV ---------------------------------------------------------------------------------------

static void write_axes(FILE* file, const char* name, int dim)
{
    for (int k = 0; k < dim; k++) fprintf(file, ",%s_%c", name, "xyz"[k]);
}

static void write_vector(FILE* file, const double* v, int dim)
{
    for (int k = 0; k < dim; k++) fprintf(file, ",%.17g", v[k]);
}

static void write_contacts(FILE* file, const ensemble_source* source, const talus_ensemble* e)
{
    (void)source;
    const int dim = e->dim;
    fputs("a,b,feature", file);
    write_axes(file, "point", dim);
    write_axes(file, "normal", dim);
    write_axes(file, "force", dim);
    fputs(",normal_force,force,spread,sliding\n", file);
    for (int64_t c = 0; c < e->contacts; c++) {
        const double* f = e->mean + c * dim;
        fprintf(file, "%" PRId64 ",%" PRId64 ",%" PRId64, e->a[c], e->b[c], e->feature[c]);
        write_vector(file, e->point + c * dim, dim);
        write_vector(file, e->normal + c * dim, dim);
        write_vector(file, f, dim);
        fprintf(file, ",%.17g,%.17g,%.17g,%.6g\n", vec_dot(dim, f, e->normal + c * dim),
                vec_norm(dim, f), e->spread[c],
                e->verified > 0 ? (double)e->sliding[c] / e->verified : 0.0);
    }
}

static void write_samples(FILE* file, const ensemble_source* source, const talus_ensemble* e)
{
    fputs("sample,start,sweeps,residual,verified,loaded,mean_force,max_force", file);
    for (int k = 0; k < e->dim; k++) {
        for (int j = 0; j < e->dim; j++) fprintf(file, ",stress_%c%c", "xyz"[k], "xyz"[j]);
    }
    fputc('\n', file);
    (void)source;
    for (int i = 0; i < e->samples; i++) {
        const talus_ensemble_sample* s = &e->sample[i];
        fprintf(file, "%d,%s,%" PRId64 ",%.6g,%d,%" PRId64 ",%.17g,%.17g", i, start_name(s->start),
                s->sweeps, s->residual, s->verified, s->loaded, s->mean_force, s->max_force);
        for (int k = 0; k < e->dim; k++) write_vector(file, s->stress + 3 * k, e->dim);
        fputc('\n', file);
    }
}

static void write_histogram(FILE* file, const ensemble_source* source, const talus_ensemble* e)
{
    (void)source;
    const double bin = 1.0 / TALUS_ENSEMBLE_BINS_PER_MEAN;
    fputs("from,to,mean,spread", file);
    for (int i = 0; i < e->samples; i++) {
        if (e->sample[i].verified) fprintf(file, ",sample_%d", i);
    }
    fputc('\n', file);
    for (int k = 0; k < TALUS_ENSEMBLE_BINS; k++) {
        bool last = k == TALUS_ENSEMBLE_BINS - 1;
        fprintf(file, "%g,%g,%.6g,%.6g", k * bin, last ? INFINITY : (k + 1) * bin,
                e->histogram_mean[k], e->histogram_spread[k]);
        for (int i = 0; i < e->samples; i++) {
            if (!e->sample[i].verified) continue;
            fprintf(file, ",%.6g", e->histogram[(int64_t)i * TALUS_ENSEMBLE_BINS + k]);
        }
        fputc('\n', file);
    }
}

// ---- files -------------------------------------------------------------------------------------

typedef void writer(FILE* file, const ensemble_source* source, const talus_ensemble* e);

/// Write one file whole or not at all.
static talus_status write_file(const char* directory, const char* name, writer* write,
                               const ensemble_source* source, const talus_ensemble* e,
                               talus_error* error)
{
    char path[PATH_SIZE];
    char* text = NULL;
    size_t size = 0;
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= PATH_SIZE) {
        return error_set(error, TALUS_ERR_IO, "the path %s is too long", directory);
    }
    FILE* stream = open_memstream(&text, &size);
    if (stream) write(stream, source, e);
    if (!stream || fclose(stream) != 0) {
        free(text);
        return error_memory(error, "writing the tables of an ensemble");
    }
    talus_status status = files_replace(path, text, size, false, error);
    free(text);
    return status;
}

bool ensemble_write_files(const char* directory, const ensemble_source* source,
                          const talus_ensemble* e)
{
    static const struct {
        const char* name;
        writer* write;
    } files[] = {{"contacts.csv", write_contacts},
                 {"samples.csv", write_samples},
                 {"histogram.csv", write_histogram},
                 {"ensemble.json", ensemble_write_json}};
    talus_error error = {0};
    talus_status status = files_make_folder(directory, &error);
    for (size_t i = 0; i < sizeof files / sizeof *files && status == TALUS_OK; i++) {
        status = write_file(directory, files[i].name, files[i].write, source, e, &error);
    }
    if (status < 0) fprintf(stderr, "talus: %s\n", error.text);
    return status == TALUS_OK;
}
