/// The talus program: looks up the subcommand and hands over.
#include "app.h"

#include "base/keep_memory.h"
#include "base/short_waits.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

static const command* const commands[] = {
    &command_run,    &command_resume,  &command_sweep,
    &command_check,  &command_advise,  &command_scenes,
    &command_export, &command_measure, &command_render,
    &command_plot,   &command_import,  &command_ensemble,
    &command_solve,  &command_paper,   &command_view,
    &command_new,    &command_schema,  &command_completion,
    &command_help,   &command_version, NULL,
};

const command* const* command_list(void)
{
    return commands;
}

static const char* command_word(int index)
{
    return commands[index] ? commands[index]->name : NULL;
}

const value_kind value_command = {.source = VALUE_WORD,
                                  .one = "command",
                                  .many = "commands",
                                  .word = command_word,
                                  .listed_by = "`talus help`"};

int main(int argc, char** argv)
{
    short_waits(argv);
    keep_memory();
    expect_crashes();
    setlocale(LC_CTYPE, ""); // only to know whether the terminal takes UTF-8; numbers stay in C
    program_called(argv[0]);
    int status = STATUS_USAGE;
    if (argc < 2) {
        print_overview(stdout);
    } else {
        const char* name = argv[1];
        if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
        const int found = value_find(&value_command, name);
        if (found >= 0) status = commands[found]->function(argc - 1, argv + 1);
    }
    // On a full disk not all that was printed is written, and that is a failure.
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "talus: cannot write all of the output%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return status == STATUS_OK ? STATUS_FAILURE : status;
}
