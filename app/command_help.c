/// talus help, talus version.
#include "app.h"

#include <string.h>

void print_command_help(const command* c)
{
    printf("usage: talus %s\n\n%c%s.\n", c->usage, c->summary[0] - 'a' + 'A', c->summary + 1);
    if (c->help[0]) printf("\n%s", c->help);
}

int command_help(int argc, char** argv)
{
    if (argc > 1) {
        const command* c = command_find(argv[1]);
        if (c) print_command_help(c);
        return c ? STATUS_OK : STATUS_USAGE;
    }
    printf("talus %s: simulation of rigid grains by Contact Dynamics\n\n", talus_version());
    int count;
    const command* list = command_list(&count);
    for (int i = 0; i < count; i++) printf("  talus %-9s %s\n", list[i].name, list[i].summary);
    printf("\nBegin with `talus scenes` and `talus run NAME`; `talus help COMMAND` says more.\n\n"
           "Exit status: 0 ok, 1 failure while running, 2 wrong usage, 3 errors in the scene,\n"
           "4 stopped for a numerical reason, 75 interrupted and resumable.\n");
    return STATUS_OK;
}

int command_version(int argc, char** argv)
{
    (void)argc;
    (void)argv;
    printf("talus %s (revision %s, %s)\n", talus_version(), talus_revision(), talus_compiler());
    return STATUS_OK;
}
