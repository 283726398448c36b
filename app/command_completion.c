/// talus completion bash|zsh|fish: a script that completes commands, options, scenes and keys.
///
/// Commands, options and their values come from the tables of the commands, keys of `--set` from
/// the table of keys; ready-made scenes are asked for when the completion is used, because there
/// may be others then.
#include "app.h"

#include "scene/keys.h"

#include <ctype.h>
#include <string.h>

// ---- what there is -----------------------------------------------------------------------------

/// Keys that --set reaches by name alone: "solver.tolerance=", "materials.".
static void print_keys(FILE* out)
{
    const key_section* s;
    for (int i = 0; (s = keys_at(i)) != NULL; i++) {
        if (strpbrk(s->pattern, "[<")) continue;
        for (int k = 0; k < keys_row_count(s); k++) {
            const key_row* row = keys_row(s, k);
            const bool below = row->kinds & (KEY_LIST | KEY_NAMED);
            // A map is reached through its own keys.
            if (row->kinds == KEY_MAP || keys_find(s, row->key, NULL, 0) != row) continue;
            fprintf(out, "%s%s%s%s ", s->pattern, s->pattern[0] ? "." : "", row->key,
                    below ? "." : "=");
        }
    }
}

static const char* shell_word(int index)
{
    static const char* const shells[] = {"bash", "zsh", "fish", NULL};
    return shells[index];
}

const value_kind value_shell = {
    .source = VALUE_WORD, .one = "shell", .many = "shells", .word = shell_word};

/// All lists of words, each between `before`, which has a place for its name, and `after`.
static void print_lists(FILE* out, const char* before, const char* after)
{
    static const value_kind* const lists[] = {
        &value_command, &value_shell, &value_paper,  &value_template, &value_quantity, &value_plot,
        &value_field,   &value_map,   &value_format, &value_section,  &value_solver};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *name = strstr(before, "%s"), *word;
        fprintf(out, "%.*s%s%s", (int)(name - before), before, lists[i]->many, name + 2);
        for (int k = 0; (word = lists[i]->word(k)) != NULL; k++) fprintf(out, "%s ", word);
        fputs(after, out);
    }
}

/// Whether the value of an option is one of the small words that its name lists: "png|svg|pdf".
static bool has_alternatives(const option_row* row)
{
    return !row->kind && strchr(row->value, '|');
}

/// The words of such a value; those in capitals stand for something else.
static void print_alternatives(FILE* out, const char* value)
{
    for (const char* at = value; *at; at += *at == '|') {
        size_t length = strcspn(at, "|"), lower = 0;
        while (lower < length && (islower((unsigned char)at[lower]) || at[lower] == '-')) lower++;
        if (lower == length) fprintf(out, "%.*s ", (int)length, at);
        at += length;
    }
}

/// Text with a backslash before each of `escaped`, in single quotes of a shell that are not ended.
static void print_quoted(FILE* out, const char* text, const char* escaped)
{
    for (const char* c = text; *c; c++) {
        if (strchr(escaped, *c)) fputc('\\', out);
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    }
}

/// Whether a shell has to wait for a value behind the option.
static bool takes_value(const option_row* row)
{
    return row->value && !row->value_may_lack;
}

// ---- bash --------------------------------------------------------------------------------------

/// The command that offers values.
static void bash_offer(FILE* out, const value_kind* kind)
{
    if (!kind) {
        fputs(":", out);
        return;
    }
    switch (kind->source) {
    case VALUE_SCENE: fputs("_talus_scenes", out); break;
    case VALUE_FOLDER: fputs("_talus_folders", out); break;
    case VALUE_FILE: fputs("_talus_files", out); break;
    case VALUE_KEY: fputs("_talus_keys", out); break;
    case VALUE_WORD:
        // Bash quotes what it takes for names of files.
        fprintf(out, "%s_talus_words \"$_talus_%s\"", kind->odd ? "compopt -o filenames; " : "",
                kind->many);
        break;
    }
}

/// What stands behind the options of a command.
static void bash_values(FILE* out, const command* c)
{
    for (const option_row* row = c->options; row && row->name; row++) {
        if (!takes_value(row)) continue;
        fprintf(out, "        '%s --%s'", c->name, row->name);
        if (row->letter) fprintf(out, "|'%s -%c'", c->name, row->letter);
        fputs(") ", out);
        if (has_alternatives(row)) {
            fputs("_talus_words '", out);
            print_alternatives(out, row->value);
            fputc('\'', out);
        } else {
            bash_offer(out, row->kind);
        }
        fputs("; return ;;\n", out);
    }
}

/// Options and arguments of a command. Where the later arguments are of another kind, those before
/// are counted, without the values of options.
static void bash_command(FILE* out, const command* c)
{
    fprintf(out, "        %s)\n            if [[ $cur == -* ]]; then _talus_words '--help ",
            c->name);
    for (const option_row* row = c->options; row && row->name; row++) {
        fprintf(out, "--%s ", row->name);
    }
    fputs("'\n            ", out);
    if (c->first.what && c->rest.what) {
        fputs("elif _talus_behind_first '", out);
        for (const option_row* row = c->options; row && row->name; row++) {
            if (!takes_value(row)) continue;
            fprintf(out, "--%s ", row->name);
            if (row->letter) fprintf(out, "-%c ", row->letter);
        }
        fputs("'; then ", out);
        bash_offer(out, c->rest.kind);
        fputs("\n            ", out);
    }
    fputs("else ", out);
    bash_offer(out, c->first.what ? c->first.kind : c->rest.kind);
    fputs("; fi ;;\n", out);
}

static void write_bash(FILE* out)
{
    fputs("# Completion of talus for bash, written by `talus completion bash`.\n", out);
    print_lists(out, "_talus_%s='", "'\n");
    fputs("_talus_set_keys='", out);
    print_keys(out);
    fputs(
        "'\n\n"
        "_talus_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
        "_talus_folders() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "
        "\"$cur\"); }\n"
        "_talus_files() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); "
        "}\n"
        "# Whether an argument stands before the cursor; $1 are the options with a value.\n"
        "_talus_behind_first() {\n"
        "    local i\n"
        "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
        "        case ${COMP_WORDS[i]} in\n"
        "            = | :) ((i++)) ;;\n"
        "            -*)\n"
        "                if [[ \" $1\" == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
        "                    if [[ ${COMP_WORDS[i+1]} == = ]]; then ((i++)); fi\n"
        "                    ((i++))\n"
        "                fi ;;\n"
        "            *) return 0 ;;\n"
        "        esac\n"
        "    done\n"
        "    return 1\n"
        "}\n"
        "_talus_keys() { compopt -o nospace; _talus_words \"$_talus_set_keys\"; }\n"
        "_talus_scenes() {\n"
        "    compopt -o filenames\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$(\"${COMP_WORDS[0]}\" scenes --names "
        "2>/dev/null)\" -- \"$cur\"\n"
        "        compgen -f -X '!*.yaml' -- \"$cur\"; compgen -d -- \"$cur\")\n"
        "}\n\n"
        "_talus() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    local command=${COMP_WORDS[1]}\n"
        "    COMPREPLY=()\n"
        "    if ((COMP_CWORD == 1)); then _talus_words \"$_talus_commands\"; return; fi\n"
        "    case \"$command $prev\" in\n",
        out);
    for (const command* const* c = command_list(); *c; c++) bash_values(out, *c);
    fputs("    esac\n    case $command in\n", out);
    for (const command* const* c = command_list(); *c; c++) bash_command(out, *c);
    fputs("    esac\n}\ncomplete -F _talus talus\n", out);
}

// ---- zsh ---------------------------------------------------------------------------------------

static void zsh_action(FILE* out, const value_kind* kind)
{
    if (!kind) {
        fputc(' ', out);
        return;
    }
    switch (kind->source) {
    case VALUE_SCENE: fputs("_talus_scenes", out); break;
    case VALUE_FOLDER: fputs("_files -/", out); break;
    case VALUE_FILE: fputs("_files", out); break;
    case VALUE_KEY: fputs("_talus_keys", out); break;
    case VALUE_WORD: fprintf(out, "_talus_%s", kind->many); break;
    }
}

static void zsh_command(FILE* out, const command* c)
{
    fprintf(out, "        %s) _arguments \\\n", c->name);
    for (const option_row* row = c->options; row && row->name; row++) {
        char words[WORDS_SIZE];
        option_words(row, words, sizeof words);
        for (int letter = row->letter ? 1 : 0; letter >= 0; letter--) {
            fprintf(out, "            '%s", row->repeated ? "*" : "");
            if (letter)
                fprintf(out, "-%c[", row->letter);
            else
                fprintf(out, "--%s[", row->name);
            print_quoted(out, words, "[]:\\"); // what a specification of _arguments would end at
            fputs("]", out);
            if (takes_value(row)) {
                fputs(":value:", out);
                if (has_alternatives(row)) {
                    fputc('(', out);
                    print_alternatives(out, row->value);
                    fputc(')', out);
                } else {
                    zsh_action(out, row->kind);
                }
            }
            fputs("' \\\n", out);
        }
    }
    const bool both = c->first.what && c->rest.what;
    fprintf(out, "            '--help[explain this command]' '%s:argument:", both ? "1" : "*");
    zsh_action(out, c->first.what ? c->first.kind : c->rest.kind);
    if (both) {
        fputs("' '*:argument:", out);
        zsh_action(out, c->rest.kind);
    }
    fputs("' ;;\n", out);
}

static void write_zsh(FILE* out)
{
    fputs("#compdef talus\n# Completion of talus for zsh, written by `talus completion zsh`.\n\n"
          "_talus_described() {\n    local -a commands=(\n",
          out);
    for (const command* const* c = command_list(); *c; c++) {
        fprintf(out, "        '%s:", (*c)->name);
        print_quoted(out, (*c)->summary, "");
        fputs("'\n", out);
    }
    fputs("    )\n    _describe command commands\n}\n", out);
    print_lists(out, "_talus_%s() { local list='", "'; compadd -- ${=list}; }\n");
    fputs("_talus_keys() { compadd -S '' -- ", out);
    print_keys(out);
    fputs("}\n_talus_scenes() {\n"
          "    compadd -- ${(f)\"$(talus scenes --names 2>/dev/null)\"}\n"
          "    _files -g '*.(yaml|yml)'\n}\n\n"
          "_talus() {\n"
          "    if ((CURRENT == 2)); then _talus_described; return; fi\n"
          "    local command=$words[2]\n"
          "    shift words; ((CURRENT--))\n"
          "    case $command in\n",
          out);
    for (const command* const* c = command_list(); *c; c++) zsh_command(out, *c);
    // Read as a function file by compinit, or sourced.
    fputs("    esac\n}\n\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _talus \"$@\"\n"
          "else compdef _talus talus; fi\n",
          out);
}

// ---- fish --------------------------------------------------------------------------------------

static void fish_values(FILE* out, const value_kind* kind)
{
    if (!kind) {
        fputs(" -f", out);
        return;
    }
    switch (kind->source) {
    case VALUE_SCENE: fputs(" -F -a '(talus scenes --names 2>/dev/null)'", out); break;
    case VALUE_FOLDER: fputs(" -f -a '(__fish_complete_directories)'", out); break;
    case VALUE_FILE: fputs(" -F", out); break;
    case VALUE_KEY: fputs(" -f -a \"$talus_set_keys\"", out); break;
    case VALUE_WORD:
        fprintf(out, " -f -a '(string split -n \" \" -- $talus_%s)'", kind->many);
        break;
    }
}

static void print_fish_words(FILE* out, const char* text)
{
    for (const char* c = text; *c; c++) {
        if (*c == '\'' || *c == '\\') fputc('\\', out);
        fputc(*c, out);
    }
}

static void fish_argument(FILE* out, const command* c, const argument_row* argument)
{
    if (!argument->what) return;
    fprintf(out, "complete -c talus -n '__fish_seen_subcommand_from %s'", c->name);
    fish_values(out, argument->kind);
    fputc('\n', out);
}

static void fish_command(FILE* out, const command* c)
{
    fprintf(out, "complete -c talus -n __fish_use_subcommand -f -a %s -d '", c->name);
    print_fish_words(out, c->summary);
    fputs("'\n", out);
    fish_argument(out, c, &c->first);
    fish_argument(out, c, &c->rest);
    for (const option_row* row = c->options; row && row->name; row++) {
        char words[WORDS_SIZE];
        option_words(row, words, sizeof words);
        fprintf(out, "complete -c talus -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                row->name);
        if (row->letter) fprintf(out, " -s %c", row->letter);
        if (takes_value(row)) {
            fputs(" -r", out);
            if (has_alternatives(row)) {
                fputs(" -f -a '", out);
                print_alternatives(out, row->value);
                fputc('\'', out);
            } else {
                fish_values(out, row->kind);
            }
        }
        fputs(" -d '", out);
        print_fish_words(out, words);
        fputs("'\n", out);
    }
}

static void write_fish(FILE* out)
{
    fputs("# Completion of talus for fish, written by `talus completion fish`.\n", out);
    print_lists(out, "set -g talus_%s '", "'\n");
    fputs("set -g talus_set_keys '", out);
    print_keys(out);
    fputs("'\n", out);
    for (const command* const* c = command_list(); *c; c++) fish_command(out, *c);
}

static int completion(int argc, char** argv)
{
    static void (*const writers[])(FILE*) = {write_bash, write_zsh, write_fish}; // as the shells
    const char* shell;
    const int status = options_read(&command_completion, argc, argv, &shell);
    if (status != OPTIONS_GOOD) return status;
    const int found = value_find(&value_shell, shell);
    if (found < 0) return STATUS_USAGE;
    writers[found](stdout);
    return STATUS_OK;
}

const command command_completion = {
    .name = "completion",
    .usage = "completion bash|zsh|fish",
    .summary = "print a completion script for your shell",
    .about = "It completes commands, options, their values, ready-made scenes and the keys of "
             "--set.\n",
    .examples = "  source <(talus completion bash)\n"
                "  talus completion fish > ~/.config/fish/completions/talus.fish\n",
    .first = {.what = "a shell (bash, zsh or fish)", .kind = &value_shell},
    .function = completion,
};
