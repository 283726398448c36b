/// talus help, talus version.
#include "app.h"

#include <string.h>

void print_command_help(const command* c)
{
    printf("usage: talus %s\n\n%c%s.\n", c->usage, c->summary[0] - 'a' + 'A', c->summary + 1);
    if (c->help[0]) printf("\n%s", c->help);
}

/// --help, --man or an argument that is none of ours; -1: neither option is there. *argument gets
/// the one that may be there besides (NULL: none may).
static int read_options(int argc, char** argv, const char* name, const char** argument)
{
    static const struct option list[] = {
        {"man", no_argument, NULL, 'm'}, {"help", no_argument, NULL, 'h'}, {0}};
    const struct option* known = argument ? list : list + 1;
    optind = 1;
    bool manual = false;
    int choice;
    while ((choice = options_next(argc, argv, ":h", known)) == 'm') manual = true;
    if (choice == 'h') print_command_help(command_find(name));
    if (choice != -1) return choice == '?' ? STATUS_USAGE : STATUS_OK;
    if (!manual && argument && optind < argc) *argument = argv[optind++];
    if (optind < argc) {
        fprintf(stderr, "talus: '%s' is one argument too many\n", argv[optind]);
        return STATUS_USAGE;
    }
    if (!manual) return -1;
    manual_write(stdout);
    return STATUS_OK;
}

int command_help(int argc, char** argv)
{
    const char* name = NULL;
    int status = argc > 0 ? read_options(argc, argv, "help", &name) : -1;
    if (status >= 0) return status;
    if (name) {
        const command* c = command_find(name);
        if (c) print_command_help(c);
        return c ? STATUS_OK : STATUS_USAGE;
    }
    printf("talus %s: simulation of rigid grains by Contact Dynamics\n\n", talus_version());
    int count;
    const command* list = command_list(&count);
    for (int i = 0; i < count; i++) printf("  talus %-10s %s\n", list[i].name, list[i].summary);
    printf("\nBegin with `talus scenes` and `talus run NAME`; `talus help COMMAND` says more.\n\n"
           "Exit status: 0 ok, 1 failure while running, 2 wrong usage, 3 errors in the scene,\n"
           "4 stopped for a numerical reason, 75 interrupted and resumable.\n");
    return STATUS_OK;
}

int command_version(int argc, char** argv)
{
    int status = read_options(argc, argv, "version", NULL);
    if (status >= 0) return status;
    printf("talus %s (revision %s, %s)\n", talus_version(), talus_revision(), talus_compiler());
    return STATUS_OK;
}
