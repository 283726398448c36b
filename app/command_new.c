/// talus new NAME: a commented starter scene.
#include "app.h"

#include "scene/keys.h"
#include "templates.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- writing a template ------------------------------------------------------------------------

/// The first clause of what the table says, without Markdown.
static void write_meaning(FILE* out, const key_row* row, int dim)
{
    for (const char* c = row->meaning; *c && *c != ';' && strncmp(c, ". ", 2) != 0; c++) {
        if (*c == '`' || (*c == '[' && strncmp(c + strcspn(c, "]"), "](", 2) == 0)) continue;
        if (*c == ']' && c[1] == '(') {
            c += strcspn(c, ")");
            continue;
        }
        fputc(*c, out);
    }
    if (row->kinds == KEY_CHOICE) {
        fputs(": ", out);
        keys_write_type(out, row, false);
    }
    const char* unit = dim == 2 && row->unit_2d ? row->unit_2d : row->unit;
    if (unit) fprintf(out, " [%s]", unit);
    if (!row->otherwise || row->derived) return;
    // The default, and what the table says of it: "; 0: only the last".
    char words[64];
    snprintf(words, sizeof words, "; %s: ", row->otherwise);
    const char* means = strstr(row->meaning, words);
    fprintf(out, "; default %s", row->otherwise);
    if (!means) return;
    means += strlen(words);
    fprintf(out, ": %.*s", (int)strcspn(means, ";.,"), means);
}

/// The row that "pattern:key" names. The variant is left open: its first row is meant.
static const key_row* find_row(const char* mark, size_t length, int dim)
{
    char pattern[128];
    snprintf(pattern, sizeof pattern, "%.*s", (int)length, mark);
    char* colon = strrchr(pattern, ':');
    if (!colon) return NULL;
    *colon = '\0';
    const key_section* s = keys_section(pattern);
    return s ? keys_find(s, colon + 1, NULL, dim) : NULL;
}

/// Column at which remarks begin, where the line is shorter, and the widest line.
enum { REMARK_COLUMN = 34, WIDEST = 100, REMARK_SIZE = 512 };

/// A remark that is too long for its line, in lines of its own before it.
static void write_above(FILE* out, size_t indent, const char* remark)
{
    for (const char* at = remark; *at;) {
        size_t length = strlen(at), room = WIDEST - indent - 2;
        if (length > room) {
            for (length = room; length > 0 && at[length] != ' ';) length--;
        }
        fprintf(out, "%*s# %.*s\n", (int)indent, "", (int)length, at);
        at += length + strspn(at + length, " ");
    }
}

static void write_line(FILE* out, const char* line, size_t length, int dim)
{
    const char* mark = memchr(line, '@', length);
    size_t before = mark ? (size_t)(mark - line) - 1 : length;
    const key_row* row = mark ? find_row(mark + 1, length - before - 2, dim) : NULL;
    char remark[REMARK_SIZE] = "";
    FILE* into = row ? fmemopen(remark, sizeof remark, "w") : NULL;
    if (into) {
        write_meaning(into, row, dim);
        fclose(into);
    }
    const size_t column = before < REMARK_COLUMN ? REMARK_COLUMN : before + 1;
    const bool above = column + 3 + columns_of(remark) > WIDEST;
    if (above) write_above(out, strspn(line, " "), remark);
    fprintf(out, "%.*s", (int)before, line);
    if (remark[0] && !above) fprintf(out, "%*s # %s", (int)(column - before), "", remark);
    fputc('\n', out);
}

// ---- the file ----------------------------------------------------------------------------------

/// The schema that was installed with the program; the name under which `talus schema` writes it
/// if there is none.
static void locate_schema(char out[PATH_SIZE])
{
    char program[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    snprintf(out, PATH_SIZE, "talus-scene.json");
    if (length <= 0) return;
    program[length] = '\0';
    char* slash = strrchr(program, '/');
    if (!slash) return;
    *slash = '\0';
    char beside[PATH_SIZE + 64];
    snprintf(beside, sizeof beside, "%s/" TALUS_SCENES_FROM_PROGRAM "/../scene.json", program);
    char* whole = realpath(beside, NULL);
    if (whole) snprintf(out, PATH_SIZE, "%s", whole);
    free(whole);
}

static bool write_scene(const char* path, const scene_template* t, int dim)
{
    FILE* file = fopen(path, "wx");
    if (!file) {
        if (errno == EEXIST)
            fprintf(stderr, "talus: %s exists already and is left as it is\n", path);
        else
            fprintf(stderr, "talus: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    char schema[PATH_SIZE], name[256], quoted[QUOTED_SIZE];
    quote_path(path, quoted);
    locate_schema(schema);
    scene_name(path, name, sizeof name);
    fprintf(file,
            "# yaml-language-server: $schema=%s\n#\n"
            "# A scene of Talus: %s.\n"
            "# Check it: %s check %s\n"
            "# Run it:   %s run %s\n\n"
            "title: \"",
            schema, t->summary, program(), quoted, program(), quoted);
    for (const char* c = name; *c; c++) fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputs("\"\n", file);
    for (const char* at = t->text; *at;) {
        const size_t length = strcspn(at, "\n");
        const bool marked = length > 1 && at[1] == '|';
        if (!marked)
            write_line(file, at, length, dim);
        else if (at[0] - '0' == dim)
            write_line(file, at + 2, length - 2, dim);
        at += length + (at[length] == '\n');
    }
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        fprintf(stderr, "talus: cannot write %s: %s\n", path, strerror(errno));
        unlink(path);
        return false;
    }
    printf("wrote %s: %s\nRun it with: %s run %s\n", path, t->summary, program(), quoted);
    if (schema[0] != '/') {
        printf("An editor completes and checks it with: %s schema -o talus-scene.json\n",
               program());
    }
    return true;
}

/// NAME.yaml, unless the name has that ending; false, with a message.
static bool file_of(const char* name, char path[PATH_SIZE])
{
    const char* dot = strrchr(name, '.');
    const bool ends = dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    const char* slash = strrchr(name, '/');
    const char* base = slash ? slash + 1 : name;
    if (base[0] == '\0' || (ends && dot == base)) {
        fprintf(stderr, "talus: '%s' is no name of a scene\n", name);
        return false;
    }
    for (const char* c = name; *c; c++) {
        if (!iscntrl((unsigned char)*c)) continue;
        fprintf(stderr, "talus: the name of a scene has no line breaks, tabs or the like\n");
        return false;
    }
    if (snprintf(path, PATH_SIZE, "%s%s", name, ends ? "" : ".yaml") < PATH_SIZE) return true;
    fprintf(stderr, "talus: the path %s is too long\n", name);
    return false;
}

static const char* template_word(int index)
{
    return scene_templates[index].name;
}

const value_kind value_template = {
    .source = VALUE_WORD, .one = "template", .many = "templates", .word = template_word};

typedef struct new_options {
    const char* name;
    bool solid; ///< of dimension 3
    int template;
    bool list;
} new_options;

static const option_row options[] = {
    {.name = "3d",
     .meaning = "in three dimensions",
     .otherwise = "2",
     .type = OPTION_FLAG,
     .place = offsetof(new_options, solid)},
    {.letter = 't',
     .name = "template",
     .value = "TEMPLATE",
     .kind = &value_template,
     .meaning = "which starter: box, hopper, shear or soft",
     .otherwise = "box",
     .type = OPTION_WORD,
     .place = offsetof(new_options, template)},
    {.name = "list",
     .meaning = "explain the templates, write nothing",
     .type = OPTION_INSTEAD,
     .place = offsetof(new_options, list)},
    {0},
};

static int new (int argc, char** argv)
{
    new_options o = {0};
    const int status = options_read(&command_new, argc, argv, &o);
    if (status != OPTIONS_GOOD) return status;
    if (o.list && o.name) return usage_surplus(o.name, "--list");
    if (o.list) {
        for (const scene_template* t = scene_templates; t->name; t++) {
            printf("%-8s %s\n", t->name, t->summary);
        }
        return STATUS_OK;
    }
    char path[PATH_SIZE];
    if (!file_of(o.name, path)) return STATUS_USAGE;
    return write_scene(path, &scene_templates[o.template], o.solid ? 3 : 2) ? STATUS_OK
                                                                            : STATUS_FAILURE;
}

const command command_new = {
    .name = "new",
    .usage = "new NAME|--list [--3d] [-t TEMPLATE]",
    .summary = "write a commented starter scene, NAME.yaml",
    .about = "Existing files are not overwritten.\n",
    .options = options,
    .examples = "  talus new first\n"
                "  talus new silos/one --3d --template hopper\n",
    .first = {.what = "a name for the scene", .place = offsetof(new_options, name)},
    .function = new,
};
