/// The page with all experiments: one HTML file that needs no other and no network. Figures are in
/// it as PNG; links lead to the SVG and CSV files beside it.
#include "results.h"

#include <stdlib.h>
#include <string.h>

static const char style[] =
    "body{font:16px/1.5 sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#222}"
    "h2{margin-top:2.5em;border-top:1px solid #ccc;padding-top:1em}"
    "table{border-collapse:collapse;width:100%;font-size:.9em}"
    "th,td{text-align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid #ddd}"
    "td.number{white-space:nowrap;font-variant-numeric:tabular-nums}"
    "td.why{color:#555;font-size:.92em}"
    ".agrees{color:#00702f}.DISAGREES{color:#b00020;font-weight:bold}.differs{color:#8a5a00}"
    "figure{margin:1.5em 0}figure img{max-width:100%}"
    "figcaption,.source{color:#555;font-size:.92em}";

static void escape(FILE* out, const char* text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out);
        }
    }
}

static void element(FILE* out, const char* open, const char* text, const char* close)
{
    fputs(open, out);
    escape(out, text);
    fputs(close, out);
}

/// Copy a file as base64 (RFC 4648).
static void write_base64(FILE* out, FILE* in)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char b[3];
    for (size_t n = fread(b, 1, 3, in); n > 0; n = fread(b, 1, 3, in)) {
        for (size_t i = n; i < 3; i++) b[i] = 0;
        unsigned bits = (unsigned)b[0] << 16 | (unsigned)b[1] << 8 | b[2];
        for (size_t i = 0; i < 4; i++) {
            fputc(i <= n ? digits[bits >> (18 - 6 * i) & 63] : '=', out);
        }
    }
}

static talus_status write_picture(FILE* out, const char* directory, const paper_picture* picture,
                                  talus_error* error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.png", directory, picture->file);
    FILE* image = fopen(path, "rb");
    if (!image) return paper_error(error, TALUS_ERR_IO, "cannot read %s: %m", path);
    fputs("<figure><img alt=\"", out);
    escape(out, picture->caption);
    fputs("\" src=\"data:image/png;base64,", out);
    write_base64(out, image);
    fclose(image);
    element(out, "\"><figcaption>", picture->caption, "");
    fprintf(out, " (<a href=\"%s.svg\">SVG</a>)</figcaption></figure>\n", picture->file);
    return TALUS_OK;
}

static void write_rows(FILE* out, const paper_results* r)
{
    fputs("<table><tr><th>quantity</th><th>measured</th><th>expected</th><th>deviation</th>"
          "<th>verdict</th></tr>\n",
          out);
    for (int i = 0; i < r->row_count; i++) {
        const paper_row* row = &r->rows[i];
        char expected[64], deviation[32];
        paper_expected_words(row, expected, sizeof expected);
        paper_deviation_words(row, deviation, sizeof deviation);
        element(out, "<tr><td>", row->quantity, "</td>");
        fprintf(out, "<td class=\"number\">%.5g</td>", row->measured);
        element(out, "<td class=\"number\">", expected, "</td>");
        element(out, "<td class=\"number\">", deviation, "</td>");
        const char* verdict = paper_verdict_words(row->verdict);
        fprintf(out, "<td class=\"%s\">%s</td></tr>\n", verdict, verdict);
        element(out, "<tr><td class=\"why\" colspan=\"5\">", row->why, "</td></tr>\n");
    }
    fputs("</table>\n", out);
}

static talus_status write_experiment(FILE* out, const char* directory, const paper_results* r,
                                     talus_error* error)
{
    fprintf(out, "<h2 id=\"%s\">%s</h2>\n", r->experiment->name, r->experiment->name);
    element(out, "<p><b>", r->experiment->title, "</b><br>");
    element(out, "<span class=\"source\">", r->experiment->source, "</span></p>\n");
    element(out, "<p>", r->experiment->about, "</p>\n");
    if (r->status < 0) {
        element(out, "<p class=\"DISAGREES\">It did not finish: ", r->error.text, "</p>\n");
    }
    for (int i = 0; i < r->picture_count; i++) {
        TRY(write_picture(out, directory, &r->pictures[i], error));
    }
    if (r->row_count > 0) write_rows(out, r);
    for (int i = 0; i < r->note_count; i++) element(out, "<p>", r->notes[i], "</p>\n");
    fputs("<p class=\"source\">Data:", out);
    for (int i = 0; i < r->table_count; i++) {
        fprintf(out, " <a href=\"%s\">%s</a>", r->tables[i], r->tables[i]);
    }
    fprintf(out, ". %.1f s (%.1f s of processor time), seed %llu.</p>\n", r->seconds,
            r->cpu_seconds, (unsigned long long)r->options->seed);
    return TALUS_OK;
}

static void write_overview(FILE* out, const paper_results* results, int count)
{
    fputs("<table><tr><th>experiment</th><th></th><th>rows</th><th>disagree</th><th>differ for a "
          "stated reason</th></tr>\n",
          out);
    for (int i = 0; i < count; i++) {
        const paper_results* r = &results[i];
        int differ = 0, disagree = paper_disagreements(r);
        for (int k = 0; k < r->row_count; k++) differ += r->rows[k].verdict == PAPER_DIFFERS;
        fprintf(out, "<tr><td><a href=\"#%s\">%s</a></td>", r->experiment->name,
                r->experiment->name);
        element(out, "<td>", r->experiment->title, "</td>");
        fprintf(out, "<td>%d</td><td class=\"%s\">%s%d</td><td>%d</td></tr>\n", r->row_count,
                paper_succeeded(r) ? "agrees" : "DISAGREES",
                r->status < 0 ? "did not finish, " : "", disagree, differ);
    }
    fputs("</table>\n", out);
}

talus_status paper_write_page(const char* directory, const paper_results* results, int count,
                              talus_error* error)
{
    FILE* out = paper_open(directory, "index.html", error);
    if (!out) return error->status;
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\">"
            "<title>Talus: the published experiments</title><style>%s</style></head><body>\n"
            "<h1>The published experiments</h1>\n<p>Talus %s, revision %s, %s.%s</p>\n",
            style, talus_version(), talus_revision(), talus_compiler(),
            results[0].options->brief ? " Short versions." : "");
    if (count > 1) write_overview(out, results, count);
    talus_status status = TALUS_OK;
    for (int i = 0; i < count && status >= 0; i++) {
        status = write_experiment(out, directory, &results[i], error);
    }
    fputs("</body></html>\n", out);
    talus_status closed = paper_close(out, "index.html", error);
    return status < 0 ? status : closed;
}
