/// talus schema: the JSON Schema of scenes, or the table of a section's keys.
#include "recorded.h"

#include "scene/keys.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char* section_word(int index)
{
    const key_section* s = keys_at(index);
    return !s ? NULL : s->pattern[0] ? s->pattern : "scene"; // that is the whole
}

const value_kind value_section = {.source = VALUE_WORD,
                                  .one = "section",
                                  .many = "sections",
                                  .word = section_word,
                                  .listed_by = "docs/scenes.md",
                                  .odd = true};

typedef struct schema_options {
    const char* output;
    bool force;
    int section; ///< -1: the schema
} schema_options;

static const option_row options[] = {
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .kind = &value_file,
     .meaning = "write it into FILE, which must not exist",
     .type = OPTION_TEXT,
     .place = offsetof(schema_options, output)},
    {.name = "force",
     .meaning = "replace FILE",
     .type = OPTION_FLAG,
     .place = offsetof(schema_options, force)},
    {.name = "markdown",
     .value = "SECTION",
     .kind = &value_section,
     .meaning = "print the keys of a section instead, such as 'walls[]', as a table",
     .type = OPTION_WORD,
     .place = offsetof(schema_options, section)},
    {0},
};

static int write_schema(const char* path, bool force)
{
    if (!path) {
        keys_write_schema(stdout);
        return STATUS_OK;
    }
    if (!output_free(path, force)) return STATUS_FAILURE;
    FILE* file = fopen(path, force ? "we" : "wxe");
    if (!file) {
        fprintf(stderr, "talus: cannot write %s: %s\n", path, strerror(errno));
        return STATUS_FAILURE;
    }
    keys_write_schema(file);
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        fprintf(stderr, "talus: cannot write %s: %s\n", path, strerror(errno));
        if (!force) unlink(path); // half a file helps nobody; with --force it may be a device
        return STATUS_FAILURE;
    }
    return STATUS_OK;
}

static int schema(int argc, char** argv)
{
    schema_options o = {.section = -1};
    const int status = options_read(&command_schema, argc, argv, &o);
    if (status != OPTIONS_GOOD) return status;
    if (o.section < 0) return write_schema(o.output, o.force);
    if (o.output || o.force) {
        fprintf(stderr, "talus: --markdown prints a table and goes with no other option\n");
        return STATUS_USAGE;
    }
    keys_write_markdown(stdout, keys_at(o.section));
    return STATUS_OK;
}

const command command_schema = {
    .name = "schema",
    .usage = "schema [-o FILE] [--force] [--markdown SECTION]",
    .summary = "print the JSON Schema of scenes, for editors",
    .about = "With it your editor completes and checks scenes while you type. A scene names "
             "it in its\n"
             "first line: # yaml-language-server: $schema=talus-scene.json\n",
    .options = options,
    .examples = "  talus schema -o talus-scene.json\n"
                "  talus schema --markdown 'walls[].motion'\n",
    .function = schema,
};
