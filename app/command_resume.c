/// talus resume DIR
#include "app.h"

#include <stddef.h>

/// Take one option into the definition; false, with a message, if its value is no good.
static bool read_option(talus_run_def* def, carry_options* carry, int choice)
{
    int64_t threads;
    switch (choice) {
    case 't':
        if (!options_integer("--threads", optarg, 1, &threads)) return false;
        def->threads = threads < 4096 ? (int)threads : 4096;
        return true;
    case 'n': return options_integer("--steps", optarg, 0, &def->max_steps);
    case 'c': return options_number("--checkpoint", optarg, &def->checkpoint_seconds);
    case 'd': return options_dump(def);
    case 'q': return carry->quiet = true;
    case 'j': return carry->json = true;
    default: return false;
    }
}

int command_resume(int argc, char** argv)
{
    static const struct option list[] = {
        {"threads", required_argument, NULL, 't'},
        {"steps", required_argument, NULL, 'n'},
        {"checkpoint", required_argument, NULL, 'c'},
        {"dump-problems", optional_argument, NULL, 'd'},
        {"quiet", no_argument, NULL, 'q'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    talus_run_def def = talus_run_default();
    carry_options carry = {0};
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":h", list)) != -1;) {
        if (choice == 'h') {
            print_command_help(command_find("resume"));
            return STATUS_OK;
        }
        if (!read_option(&def, &carry, choice)) return STATUS_USAGE;
    }
    def.directory = options_single(argc, argv, "the directory of a run");
    return def.directory ? carry_out(&def, true, carry) : STATUS_USAGE;
}
