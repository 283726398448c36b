/// What a command says of itself, made of its table: `talus help NAME` and the man page talus(1).
#include "app.h"

#include <ctype.h>
#include <string.h>

enum {
    HELP_COLUMN = 25, ///< at which explanations of options begin
    HELP_WIDTH = 96,  ///< at which their lines break
};

void option_words(const option_row* row, char* out, size_t size)
{
    const char* otherwise = row->otherwise ? row->otherwise : "";
    snprintf(out, size, "%s%s%s%s%s%s", row->meaning, row->repeated ? "; may be repeated" : "",
             row->meaning[0] && row->otherwise ? " " : "", row->otherwise ? "[" : "", otherwise,
             row->otherwise ? "]" : "");
}

// ---- talus help --------------------------------------------------------------------------------

static void print_option(FILE* out, const option_row* row)
{
    char words[WORDS_SIZE];
    option_words(row, words, sizeof words);
    int column = fprintf(out, "  ");
    if (row->letter) column += fprintf(out, "-%c, ", row->letter);
    column += fprintf(out, "--%s", row->name);
    if (row->value) {
        column += fprintf(out, row->value_may_lack ? "[=%s]" : " %s", row->value);
    }
    const int gap = column + 2 > HELP_COLUMN ? 2 : HELP_COLUMN - column;
    column += fprintf(out, "%*s", gap, "");
    bool first = true;
    for (const char* at = words; *at; first = false) {
        const int length = (int)strcspn(at, " ");
        if (!first && column + 1 + length > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, at);
        column += length;
        at += length + (at[length] == ' ');
    }
    fputc('\n', out);
}

void print_command_help(FILE* out, const command* c)
{
    fprintf(out, "usage: %s %s\n\n%c%s.\n\n", program(), c->usage,
            toupper((unsigned char)c->summary[0]), c->summary + 1);
    if (c->about) print_as_called(out, c->about);
    if (c->about) fputc('\n', out);
    for (const option_row* row = c->options; row && row->name; row++) print_option(out, row);
    if (c->options) fputc('\n', out);
    if (c->notes) print_as_called(out, c->notes);
    if (c->notes) fputc('\n', out);
    fputs("Examples:\n", out);
    print_as_called(out, c->examples);
}

// ---- the man page ------------------------------------------------------------------------------

/// Text as roff: no escape, no hyphenation of options, no request at the beginning of a line.
static void write_text(FILE* out, const char* text, size_t length)
{
    if (length > 0 && (text[0] == '.' || text[0] == '\'')) fputs("\\&", out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else if (text[i] == '`')
            fputs("\\(ga", out);
        else if (text[i] == '\'')
            fputs("\\(aq", out);
        else
            fputc(text[i], out);
    }
}

static void write_line(FILE* out, const char* text)
{
    write_text(out, text, strlen(text));
    fputc('\n', out);
}

static void write_option(FILE* out, const option_row* row)
{
    char words[WORDS_SIZE];
    option_words(row, words, sizeof words);
    fputs(".TP\n", out);
    if (row->letter) fprintf(out, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", out);
    write_text(out, row->name, strlen(row->name));
    fputs("\\fR", out);
    if (row->value) {
        fputs(row->value_may_lack ? "[=\\fI" : " \\fI", out);
        write_text(out, row->value, strlen(row->value));
        fputs(row->value_may_lack ? "\\fR]" : "\\fR", out);
    }
    fputc('\n', out);
    write_line(out, words);
}

/// Paragraphs of a help text: prose fills lines, what is indented stays as it is.
static void write_prose(FILE* out, const char* text)
{
    bool as_is = false, fresh = true;
    for (const char* line = text; *line;) {
        const size_t length = strcspn(line, "\n"), indent = line[0] == ' ' ? 2 : 0;
        if (as_is && indent == 0) {
            fputs(".fi\n.RE\n", out);
            as_is = false;
        }
        if (!as_is && indent > 0) {
            fputs(".RS 4\n.nf\n", out);
            as_is = true;
        } else if (fresh && length > 0) {
            fputs(".PP\n", out);
        }
        fresh = length == 0;
        if (length > 0) {
            write_text(out, line + indent, length - indent);
            fputc('\n', out);
        }
        line += length + (line[length] == '\n');
    }
    if (as_is) fputs(".fi\n.RE\n", out);
}

void manual_write(FILE* out)
{
    fprintf(out, ".TH TALUS 1 \"\" \"Talus %s\" \"User Commands\"\n", talus_version());
    fputs(".SH NAME\ntalus \\- simulation of rigid grains by Contact Dynamics\n"
          ".SH SYNOPSIS\n.B talus\n\\fICOMMAND\\fR [\\fIargument\\fR...]\n"
          ".SH DESCRIPTION\n",
          out);
    fputs(
        "Talus simulates grains that do not deform, in two and three dimensions: disks, spheres,\n"
        "polygons and polyhedra with friction, between walls that move. A scene, a YAML file, "
        "says\n"
        "what is in the world; a run leaves its results in a directory of its own.\n"
        ".PP\nStart with \\fBtalus scenes\\fR and \\fBtalus run\\fR \\fINAME\\fR.\n"
        ".SH COMMANDS\n",
        out);
    for (const command* const* each = command_list(); *each; each++) {
        const command* c = *each;
        fputs(".SS talus ", out);
        write_line(out, c->name);
        fputs(".B talus\n", out);
        write_line(out, c->usage);
        fprintf(out, ".PP\n%c", toupper((unsigned char)c->summary[0]));
        write_text(out, c->summary + 1, strlen(c->summary + 1));
        fputs(".\n", out);
        if (c->about) write_prose(out, c->about);
        for (const option_row* row = c->options; row && row->name; row++) write_option(out, row);
        if (c->notes) write_prose(out, c->notes);
        fputs(".PP\nExamples:\n", out);
        write_prose(out, c->examples);
    }
    fputs(".SH EXIT STATUS\n", out);
    static const struct {
        int status;
        const char* words;
    } statuses[] = {{STATUS_OK, "all went well"},
                    {STATUS_FAILURE, "failure while running: a file, memory, the machine"},
                    {STATUS_USAGE, "wrong usage"},
                    {STATUS_SCENE, "the scene has errors"},
                    {STATUS_NUMERIC, "stopped for a numerical reason"},
                    {STATUS_INTERRUPTED, "interrupted, can be resumed"}};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        fprintf(out, ".TP\n.B %d\n%s\n", statuses[i].status, statuses[i].words);
    }
    fputs(".SH ENVIRONMENT\n.TP\n.B TALUS_SCENES\ndirectory of ready\\-made scenes, before those "
          "that were installed\n",
          out);
}
