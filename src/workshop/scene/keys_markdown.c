/// The table of keys as Markdown, for docs/scenes.md.
#include "scene/keys.h"

#include <string.h>

/// "`a`, `b` or `c`", without those that are out.
static void write_choices(FILE* out, const key_row* row, bool marks)
{
    int left = 0, written = 0;
    for (int i = 0; i < row->choice_count; i++) left += !(row->without >> i & 1u);
    for (int i = 0; i < row->choice_count; i++) {
        if (row->without >> i & 1u) continue;
        const char* mark = marks && row->kinds != KEY_INTEGER ? "`" : "";
        const char* before = written == 0 ? "" : written == left - 1 ? " or " : ", ";
        fprintf(out, "%s%s%s%s", before, mark, row->choices[i], mark);
        written++;
    }
}

static void write_rule(FILE* out, const key_row* row, const char* before)
{
    if (row->rule == REAL_FRACTION)
        fprintf(out, "%s%s0 to %g", before, row->not_zero ? "above " : "",
                row->most > 0 ? row->most : 1.0);
    else if (row->rule == REAL_POSITIVE && row->most > 0 && !row->whole)
        fprintf(out, "%sabove 0 to %g", before, row->most);
    else if (row->least > 0)
        fprintf(out, "%s≥ %g", before, row->least);
    else if (row->rule != REAL_ANY)
        fprintf(out, "%s%s 0", before, row->rule == REAL_POSITIVE ? ">" : "≥");
}

static void write_list_type(FILE* out, const key_row* row, unsigned kind, bool marks)
{
    const char* unit = row->unit ? row->unit : "";
    const char* comma = row->unit ? ", " : "";
    if (kind == KEY_VECTOR && row->width == 2) {
        fprintf(out, "[low, high]%s%s", comma, unit);
    } else if (kind == KEY_VECTOR) {
        fprintf(out, "%s%s%s", row->whole ? "whole numbers" : "vector", comma, unit);
        if (row->kinds == KEY_VECTOR) write_rule(out, row, ", each ");
    } else if (kind == KEY_AXIAL) {
        fprintf(out, "number, 3D: vector%s%s", comma, unit);
    } else if (kind == KEY_ROWS && row->width > 0) {
        fprintf(out, "list of rows");
    } else if (kind == KEY_ROWS) {
        fprintf(out, "list of %svectors%s%s",
                row->least == 2   ? "two "
                : row->least == 3 ? "three "
                                  : "",
                comma, unit);
    } else if (kind == KEY_TEXTS) {
        fprintf(out, "list of %s", row->choice_count > 0 ? "" : "names");
        write_choices(out, row, marks);
    } else {
        fprintf(out, "%s of names", row->most == 1 ? "a list with a pair" : "list of two pairs");
    }
}

void keys_write_type(FILE* out, const key_row* row, bool marks)
{
    const char* before = "";
    for (unsigned kind = 1; kind <= KEY_NAMED; kind *= 2) {
        if (!(row->kinds & kind)) continue;
        fputs(before, out);
        before = " or ";
        switch (kind) {
        case KEY_REAL:
            if (row->unit && row->unit_2d)
                fprintf(out, "%s (2D: %s)", row->unit, row->unit_2d);
            else if (row->unit)
                fprintf(out, "%s", row->unit);
            else if (row->rule == REAL_ANY)
                fprintf(out, "number");
            write_rule(out, row, row->unit ? ", " : "");
            break;
        case KEY_INTEGER:
            if (row->choice_count > 0)
                write_choices(out, row, marks);
            else if (row->most - row->least == 1)
                fprintf(out, "%g or %g", row->least, row->most);
            else if (row->least < 0)
                fprintf(out, "integer");
            else if (row->most <= 10000)
                fprintf(out, "integer %g–%g", row->least, row->most);
            else
                fprintf(out, "integer ≥ %g", row->least);
            break;
        case KEY_BOOL: fputs("true or false", out); break;
        case KEY_TEXT: fputs("text", out); break;
        case KEY_CHOICE: write_choices(out, row, marks); break;
        case KEY_MAP: fputs("map", out); break;
        case KEY_LIST: fputs("list of maps", out); break;
        case KEY_NAMED: fputs("map of maps", out); break;
        default: write_list_type(out, row, kind, marks); break;
        }
    }
}

void keys_write_markdown(FILE* out, const key_section* s)
{
    bool varies = false;
    for (int i = 0; i < keys_row_count(s); i++) {
        varies = varies || keys_row(s, i)->only || keys_row(s, i)->dim;
    }
    fprintf(out, "| Key |%s Type, unit | Default | Meaning |\n|---|%s---|---|---|\n",
            varies ? " Where |" : "", varies ? "---|" : "");
    for (int i = 0; i < keys_row_count(s); i++) {
        const key_row* row = keys_row(s, i);
        fprintf(out, "| `%s%s%s` | ", s->pattern, s->pattern[0] ? "." : "", row->key);
        if (varies) { // variants and dimension in which the row exists
            char word[64];
            const char* rest = row->only;
            const char* before = "";
            if (rest && rest[0] == '-') {
                fputs("not ", out);
                rest++;
            }
            while (rest && keys_next_word(&rest, word, sizeof word)) {
                fprintf(out, "%s%s", before, word);
                before = ", ";
            }
            if (row->dim) fprintf(out, "%s%dD", row->only ? "; " : "", row->dim);
            fputs(" | ", out);
        }
        keys_write_type(out, row, true);
        fputs(" | ", out);
        if (row->required)
            fputs("required", out);
        else if (row->derived)
            fputs(row->derived, out);
        else if (row->otherwise)
            fputs(strcmp(row->otherwise, "0.3333333333333333") ? row->otherwise : "1/3", out);
        fprintf(out, " | %s |\n", row->meaning);
    }
}
