/// Progress: one live line on a terminal, plain lines about every five seconds elsewhere.
#include "app.h"

#include "base/clock.h"
#include "base/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1
#define PLAIN_SECONDS 5.0

enum { FIELD_COUNT = 11, FIELD_SIZE = 64 };

/// Fields in the order in which a narrow terminal gives them up, first to go first.
static const int dropped_first[] = {9, 7, 6, 4, 3, 8, 5, 2, 0};

live live_begin(bool quiet)
{
    return (live){
        .quiet = quiet,
        .terminal = isatty(STDERR_FILENO) == 1,
        .utf8 = MB_CUR_MAX > 1,
        .printed = clock_seconds(),
        .phase = -1,
    };
}

void format_duration(double seconds, char* out, size_t size)
{
    long s = seconds < 1e9 ? (long)(seconds + 0.5) : 1000000000;
    if (s < 60) {
        snprintf(out, size, "%lds", s);
    } else if (s < 3600) {
        snprintf(out, size, "%ldm%02lds", s / 60, s % 60);
    } else if (s < 48 * 3600) {
        snprintf(out, size, "%ldh%02ldm", s / 3600, s / 60 % 60);
    } else {
        snprintf(out, size, "%ldd%02ldh", s / 86400, s / 3600 % 24);
    }
}

static void format_eta(const live* l, const talus_progress* p, char* out, size_t size)
{
    if (p->eta_seconds < 0) {
        snprintf(out, size, "ETA ?");
        return;
    }
    char left[32];
    format_duration(p->eta_seconds, left, sizeof left);
    const char* bound = !p->at_most ? "" : l->utf8 ? "\u2264 " : "<= ";
    snprintf(out, size, "ETA %s%s", bound, left);
}

size_t columns_of(const char* text)
{
    size_t n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void fill_fields(const live* l, const talus_progress* p, char field[][FIELD_SIZE])
{
    const talus_step_result* last = p->last;
    snprintf(field[0], FIELD_SIZE, "%.30s %d/%d", p->phase, p->phase_index + 1, p->phase_count);
    snprintf(field[1], FIELD_SIZE, "step %" PRId64, last->step);
    snprintf(field[2], FIELD_SIZE, "t %.4g%s", last->time, p->reduced_units ? "" : " s");
    snprintf(field[3], FIELD_SIZE, "%" PRId64 " grain%s", last->grains, plural(last->grains));
    snprintf(field[4], FIELD_SIZE, "%" PRId64 " contact%s", last->contacts, plural(last->contacts));
    if (p->method == TALUS_METHOD_SOFT) {
        field[5][0] = '\0';
        snprintf(field[6], FIELD_SIZE, "energy error %.1e%s", last->energy.error,
                 p->reduced_units ? "" : " J");
    } else {
        snprintf(field[5], FIELD_SIZE, "%" PRId64 " sweep%s", last->sweeps, plural(last->sweeps));
        snprintf(field[6], FIELD_SIZE, "%s %.2g %%",
                 last->rigidity.yielding ? "off by" : "exact to",
                 100 * fmin(last->rigidity.velocity_error, 1));
    }
    snprintf(field[7], FIELD_SIZE, "overlap %.2g %%", 100 * last->overlap_max);
    snprintf(field[8], FIELD_SIZE, "Ekin %.2e%s", last->kinetic_energy,
             p->reduced_units ? "" : " J");
    snprintf(field[9], FIELD_SIZE, "%.3g steps/s", p->steps_per_second);
    format_eta(l, p, field[10], FIELD_SIZE);
}

/// Join the fields, leaving out the least important ones until the line fits `width` columns.
static void join_fields(char field[][FIELD_SIZE], size_t width, char* line, size_t size)
{
    size_t drop = 0, drops = sizeof dropped_first / sizeof *dropped_first;
    for (;;) {
        line[0] = '\0';
        size_t used = 0;
        for (int f = 0; f < FIELD_COUNT; f++) {
            if (!field[f][0]) continue;
            used += (size_t)snprintf(line + used, size - used, "%s%s", used ? "  " : "", field[f]);
        }
        if (columns_of(line) <= width || drop == drops) return;
        field[dropped_first[drop++]][0] = '\0';
    }
}

/// Columns that can be used without wrapping around.
static size_t terminal_width(int file)
{
    struct winsize size;
    if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col - 1u;
    return 79;
}

void print_wrapped(FILE* out, const char* head, int indent, const char* text)
{
    size_t width = isatty(fileno(out)) == 1 ? terminal_width(fileno(out)) : SIZE_MAX;
    size_t column = columns_of(head);
    fputs(head, out);
    for (bool first = true; *text; first = false) {
        char word[256];
        size_t length = strcspn(text, " ");
        if (length >= sizeof word) length = sizeof word - 1;
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        size_t columns = columns_of(word);
        if (!first && column + 1 + columns > width) {
            fprintf(out, "\n%*s", indent, "");
            column = (size_t)indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fputs(word, out);
        column += columns;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}

void live_progress(void* user, const talus_progress* progress)
{
    live* l = user;
    if (l->quiet) return;
    double now = clock_seconds();
    bool changed = progress->phase_index != l->phase;
    if (!changed && now - l->printed < (l->terminal ? REDRAW_SECONDS : PLAIN_SECONDS)) return;
    l->printed = now;
    l->phase = progress->phase_index;

    char field[FIELD_COUNT][FIELD_SIZE], line[FIELD_COUNT * (FIELD_SIZE + 2)];
    fill_fields(l, progress, field);
    join_fields(field, l->terminal ? terminal_width(STDERR_FILENO) : sizeof line, line,
                sizeof line);
    if (l->terminal) {
        fprintf(stderr, "\r%s\033[K", line);
        l->shown = true;
    } else {
        fprintf(stderr, "%s\n", line);
    }
    fflush(stderr);
}

void live_clear(live* l)
{
    if (l->shown) fputs("\r\033[K", stderr);
    l->shown = false;
}

void live_log(void* user, talus_log_level level, const char* text)
{
    live* l = user;
    if (l->quiet || level != TALUS_LOG_WARNING) return;
    live_clear(l);
    print_wrapped(stderr, "warning: ", 2, text);
}
