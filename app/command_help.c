/// talus help, talus version.
#include "app.h"

typedef struct help_options {
    bool manual;
    const char* name;
} help_options;

static int help(int argc, char** argv)
{
    help_options o = {0};
    const int status = options_read(&command_help, argc, argv, &o);
    if (status != OPTIONS_GOOD) return status;
    if (o.manual && o.name) return usage_surplus(o.name, "--man");
    if (o.manual) {
        manual_write(stdout);
    } else if (o.name) {
        const int found = value_find(&value_command, o.name);
        if (found < 0) return STATUS_USAGE;
        print_command_help(stdout, command_list()[found]);
    } else {
        print_overview(stdout);
    }
    return STATUS_OK;
}

const command command_help = {
    .name = "help",
    .usage = "help [COMMAND] [--man]",
    .summary = "explain a command",
    .options = (const option_row[]){{.name = "man",
                                     .meaning = "print the man page, talus(1), as roff",
                                     .type = OPTION_FLAG,
                                     .place = offsetof(help_options, manual)},
                                    {0}},
    .examples = "  talus help run\n"
                "  talus help --man | man -l -\n",
    .first = {.what = "a command",
              .kind = &value_command,
              .place = offsetof(help_options, name),
              .may_lack = true},
    .function = help,
};

void print_overview(FILE* out)
{
    fprintf(out, "talus %s: simulation of rigid grains by Contact Dynamics\n\n", talus_version());
    for (const command* const* c = command_list(); *c; c++) {
        fprintf(out, "  %s %-10s %s\n", program(), (*c)->name, (*c)->summary);
    }
    print_as_called(
        out, "\nStart with `talus scenes` and `talus run NAME`; `talus help COMMAND` says more.\n\n"
             "Exit status: 0 ok, 1 failure while running, 2 wrong usage, 3 errors in the scene,\n"
             "4 stopped for a numerical reason, 75 interrupted and resumable.\n");
}

static int version(int argc, char** argv)
{
    const int status = options_read(&command_version, argc, argv, NULL);
    if (status != OPTIONS_GOOD) return status;
    printf("talus %s (revision %s, %s)\n", talus_version(), talus_revision(), talus_compiler());
    return STATUS_OK;
}

const command command_version = {
    .name = "version",
    .usage = "version",
    .summary = "print version, revision and compiler",
    .examples = "  talus version\n",
    .function = version,
};
