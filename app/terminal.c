/// Words on a terminal: lines that break between words, lengths of time, verdicts and mistakes.
#include "app.h"

#include "base/words.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

size_t columns_of(const char* text)
{
    size_t n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

size_t terminal_width(int file)
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

void print_problems(const talus_report* report, const talus_error* error)
{
    if (report->count == 0) {
        fprintf(stderr, "talus: %s\n", error->text);
        return;
    }
    for (int i = 0; i < report->count; i++) fprintf(stderr, "%s\n", report->lines[i]);
    fprintf(stderr, "talus: %d error%s in the scene\n", report->count, plural(report->count));
}
