/// What is said at the end of a run: where the time went, what to think of the numbers, where the
/// files are and how to look at them.
#include "app.h"

#include "base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void print_stage(FILE* out, const char* name, double seconds, double total)
{
    fprintf(out, "  %-10s %10.2f s  %5.1f %%\n", name, seconds,
            total > 0 ? 100 * seconds / total : 0.0);
}

static void print_times(FILE* out, const talus_summary* s)
{
    double total = s->seconds_total;
    double named = s->seconds_detect + s->seconds_solve + s->seconds_advance + s->seconds_record;
    fprintf(out, "time by stage\n");
    print_stage(out, "detect", s->seconds_detect, total);
    print_stage(out, "solve", s->seconds_solve, total);
    print_stage(out, "advance", s->seconds_advance, total);
    print_stage(out, "record", s->seconds_record, total);
    print_stage(out, "other", total > named ? total - named : 0, total);
    print_stage(out, "total", total, total);
    double working = s->seconds_detect + s->seconds_solve + s->seconds_advance;
    if (s->method == TALUS_METHOD_SOFT) {
        fprintf(out, "  %.3g grains times steps a second, %.3g MB of memory at most\n",
                working > 0 ? s->grain_steps / working : 0.0, (double)s->peak_memory_bytes / 1e6);
    } else if (s->seconds_solve > 0) {
        fprintf(out, "  %.3g contact updates a second while solving, %.3g MB of memory at most\n",
                (double)s->contact_updates / s->seconds_solve, (double)s->peak_memory_bytes / 1e6);
    }
}

void print_verdict(FILE* out, const char* verdict)
{
    fprintf(out, "verdict\n");
    while (*verdict) {
        size_t length = strcspn(verdict, "\n");
        char line[2048];
        snprintf(line, sizeof line, "%.*s", (int)length, verdict);
        print_wrapped(out, "  ", 4, line);
        verdict += length + (verdict[length] == '\n');
    }
}

void ending_print(FILE* out, const char* directory, const talus_summary* s)
{
    fprintf(out, "%s: %" PRId64 " step%s, t = %.6g%s, %" PRId64 " grain%s, %" PRId64 " frame%s\n\n",
            s->outcome, s->steps, plural(s->steps), s->time, s->reduced_units ? "" : " s",
            s->grains, plural(s->grains), s->frames, plural(s->frames));
    print_times(out, s);
    fputc('\n', out);
    print_verdict(out, s->verdict);
    fprintf(out,
            "\nresults are in %s: summary.json, series.csv, frames.h5, log.txt\n"
            "  browser:   talus view %s\n"
            "  ParaView:  open %s/frames.xdmf (choose \"XDMF Reader\")\n",
            directory, directory, directory);
    if (s->shapes > 0) {
        fprintf(out, "  shapes:    talus export %s, then open %s/export/solids.pvd and walls.pvd\n",
                directory, directory);
    }
    fprintf(out,
            "  OVITO:     talus export %s, then open %s/export/grains.dump\n"
            "  numpy:     import h5py\n"
            "             f = h5py.File('%s/frames.h5')\n"
            "             x = f['frames/%06" PRId64 "/grains/position'][:]\n",
            directory, directory, directory, s->frames - 1);
}

bool ending_print_json(const char* directory)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/summary.json", directory);
    FILE* file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "talus: cannot read %s: %s\n", path, strerror(errno));
        return false;
    }
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) fwrite(block, 1, n, stdout);
    fclose(file);
    return fflush(stdout) == 0;
}

void print_problems(const talus_report* report, const talus_error* error)
{
    if (report->count == 0) {
        fprintf(stderr, "talus: %s\n", error->text);
        return;
    }
    for (int i = 0; i < report->count; i++) fprintf(stderr, "%s\n", report->lines[i]);
    fprintf(stderr, "talus: %d error%s in the scene\n", report->count, plural(report->count));
}
