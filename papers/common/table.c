/// The table of an experiment in words, and as a CSV file.
#include "results.h"

#include <math.h>
#include <string.h>

const char* paper_verdict_words(paper_verdict verdict)
{
    static const char* const words[] = {
        [PAPER_AGREES] = "agrees", [PAPER_DISAGREES] = "DISAGREES", [PAPER_DIFFERS] = "differs"};
    return words[verdict];
}

void paper_expected_words(const paper_row* row, char* out, size_t size)
{
    if (row->verdict == PAPER_DIFFERS) {
        snprintf(out, size, "%.5g", row->expected);
    } else if (!isnan(row->expected)) {
        snprintf(out, size, "%.5g ± %.2g", row->expected, row->high - row->expected);
    } else if (isinf(row->low)) {
        snprintf(out, size, "at most %.4g", row->high);
    } else if (isinf(row->high)) {
        snprintf(out, size, "at least %.4g", row->low);
    } else {
        snprintf(out, size, "%.4g to %.4g", row->low, row->high);
    }
}

void paper_deviation_words(const paper_row* row, char* out, size_t size)
{
    double off = row->measured - row->expected;
    if (isnan(row->measured)) {
        snprintf(out, size, "no number");
        return;
    }
    if (isnan(row->expected)) {
        double outside = fmax(row->low - row->measured, row->measured - row->high);
        snprintf(out, size, outside <= 0 ? "inside" : "%.3g outside", outside);
    } else if (row->expected == 0 || fabs(off) > 100 * fabs(row->expected)) {
        snprintf(out, size, "%+.3g", off);
    } else {
        snprintf(out, size, "%+.3g %%", 100 * off / fabs(row->expected));
    }
}

void paper_write_text(FILE* file, const char* text, char end)
{
    const bool quoted = strpbrk(text, ",\"\n") != NULL;
    if (quoted) fputc('"', file);
    for (; *text; text++) {
        if (*text == '"') fputc('"', file);
        fputc(*text, file);
    }
    if (quoted) fputc('"', file);
    fputc(end, file);
}

talus_status paper_write_table(const paper_results* r, talus_error* error)
{
    char name[160];
    snprintf(name, sizeof name, "%s-table.csv", r->experiment->name);
    FILE* file = paper_open(r->options->directory, name, error);
    if (!file) return error->status;
    fputs("quantity,measured,expected,low,high,verdict,why\n", file);
    for (int i = 0; i < r->row_count; i++) {
        const paper_row* row = &r->rows[i];
        paper_write_text(file, row->quantity, ',');
        fprintf(file, "%.12g,%.12g,%.12g,%.12g,%s,", row->measured, row->expected, row->low,
                row->high, paper_verdict_words(row->verdict));
        paper_write_text(file, row->why, '\n');
    }
    return paper_close(file, name, error);
}
