/// The man page talus(1), made of the help texts of the commands.
#include "app.h"

#include <ctype.h>
#include <string.h>

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

static void write_option(FILE* out, const help_option* o)
{
    fputs(".TP\n", out);
    if (o->letter) fprintf(out, "\\fB\\-%c\\fR%s", o->letter, o->count > 0 ? ", " : "");
    for (int i = 0; i < o->count; i++) {
        fprintf(out, "%s\\fB\\-\\-", i > 0 ? ", " : "");
        write_text(out, o->names[i], strlen(o->names[i]));
        fputs("\\fR", out);
    }
    if (o->value[0]) {
        fputs(o->value_may_lack ? "[=\\fI" : " \\fI", out);
        write_text(out, o->value, strlen(o->value));
        fputs(o->value_may_lack ? "\\fR]" : "\\fR", out);
    }
    fputc('\n', out);
    write_line(out, o->text);
}

/// What is being written: prose that fills lines, or lines as they are.
typedef struct writer {
    FILE* out;
    bool as_is; ///< in a block of examples
    bool fresh; ///< a paragraph begins
} writer;

static void end_block(writer* w)
{
    if (w->as_is) fputs(".fi\n.RE\n", w->out);
    w->as_is = false;
}

/// A line of a help text that is no option.
static void write_help_line(writer* w, const char* line, size_t length)
{
    const bool indented = line[0] == ' ';
    if (length == 0) {
        end_block(w);
        w->fresh = true;
        return;
    }
    if (indented && !w->as_is) {
        fputs(".RS 4\n.nf\n", w->out);
        w->as_is = true;
    } else if (!indented) {
        end_block(w);
        if (w->fresh) fputs(".PP\n", w->out);
    }
    w->fresh = false;
    write_text(w->out, line + (indented ? 2 : 0), length - (indented ? 2 : 0));
    fputc('\n', w->out);
}

static void write_help(FILE* out, const char* help)
{
    writer w = {out, false, true};
    for (const char* at = help; *at;) {
        help_option option;
        if (help_is_option(at)) {
            end_block(&w);
            at = help_read_option(at, &option);
            write_option(out, &option);
            w.fresh = true;
            continue;
        }
        size_t length = strcspn(at, "\n");
        write_help_line(&w, at, length);
        at += length + (at[length] == '\n');
    }
    end_block(&w);
}

static void write_command(FILE* out, const command* c)
{
    fputs(".SS talus ", out);
    write_line(out, c->name);
    fputs(".B talus\n", out);
    write_line(out, c->usage);
    fputs(".PP\n", out);
    fprintf(out, "%c", toupper((unsigned char)c->summary[0]));
    write_text(out, c->summary + 1, strlen(c->summary + 1));
    fputs(".\n", out);
    write_help(out, c->help);
}

void manual_write(FILE* out)
{
    int count;
    const command* list = command_list(&count);
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
        ".PP\nBegin with \\fBtalus scenes\\fR and \\fBtalus run\\fR \\fINAME\\fR.\n"
        ".SH COMMANDS\n",
        out);
    for (int i = 0; i < count; i++) write_command(out, &list[i]);
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
