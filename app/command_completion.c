/// talus completion bash|zsh|fish: a script that completes commands, options, scenes and keys.
///
/// Commands and options come from the table of commands and its help texts, keys of `--set` from
/// the table of keys; ready-made scenes are asked for when the completion is used, because there
/// may be others then.
#include "app.h"

#include "list.h"
#include "scene/keys.h"
#include "templates.h"

#include <ctype.h>
#include <string.h>

// ---- what there is -----------------------------------------------------------------------------

/// What an argument or the value of an option is.
typedef enum value_kind {
    VALUE_OTHER,
    VALUE_SCENE,
    VALUE_FOLDER,
    VALUE_FILE,
    VALUE_KEY,
    VALUE_COMMAND,
    VALUE_SHELL,
    VALUE_PAPER,
    VALUE_TEMPLATE,
} value_kind;

/// Words of usage lines and help texts that say what stands there.
static const struct {
    const char* word;
    value_kind kind;
} value_words[] = {
    {"SCENE.yaml", VALUE_FILE},    {"SCENE", VALUE_SCENE},       {"DIR", VALUE_FOLDER},
    {"FILE", VALUE_FILE},          {"OUT", VALUE_FILE},          {"PATH", VALUE_FILE},
    {"key.path=value", VALUE_KEY}, {"COMMAND", VALUE_COMMAND},   {"bash", VALUE_SHELL},
    {"NAME...", VALUE_PAPER},      {"TEMPLATE", VALUE_TEMPLATE},
};

static value_kind kind_of_word(const char* word)
{
    for (size_t i = 0; i < sizeof value_words / sizeof *value_words; i++) {
        size_t length = strlen(value_words[i].word);
        const bool same = strncmp(word, value_words[i].word, length) == 0;
        if (same && !isalnum((unsigned char)word[length])) return value_words[i].kind;
    }
    return VALUE_OTHER;
}

/// What the first argument of a command is.
static value_kind kind_of_argument(const command* c)
{
    const char* at = strchr(c->usage, ' ');
    if (!at) return VALUE_OTHER;
    at += strspn(at, " [");
    return *at == '-' ? VALUE_OTHER : kind_of_word(at);
}

/// Keys that --set reaches by name alone: "solver.tolerance=", "materials."; calls `visit` for
/// each.
static void visit_keys(void (*visit)(FILE* out, const char* key), FILE* out)
{
    const key_section* s;
    for (int i = 0; (s = keys_at(i)) != NULL; i++) {
        if (strpbrk(s->pattern, "[<")) continue;
        for (int k = 0; k < keys_row_count(s); k++) {
            const key_row* row = keys_row(s, k);
            char key[128];
            const bool below = row->kinds & (KEY_LIST | KEY_NAMED);
            // A map is reached through its own keys.
            if (row->kinds == KEY_MAP || keys_find(s, row->key, NULL, 0) != row) continue;
            snprintf(key, sizeof key, "%s%s%s%s", s->pattern, s->pattern[0] ? "." : "", row->key,
                     below ? "." : "=");
            visit(out, key);
        }
    }
}

static void print_word(FILE* out, const char* word)
{
    fprintf(out, "%s ", word);
}

static void print_papers(FILE* out)
{
    for (const paper_experiment* const* p = paper_list(); *p; p++) print_word(out, (*p)->name);
    fputs("all ", out);
}

static void print_templates(FILE* out)
{
    for (const scene_template* s = scene_templates; s->name; s++) print_word(out, s->name);
}

static void print_commands(FILE* out)
{
    int count;
    const command* list = command_list(&count);
    for (int i = 0; i < count; i++) print_word(out, list[i].name);
}

/// The words of a value such as "png|svg|pdf"; those in capitals stand for something else.
static void print_alternatives(FILE* out, const char* value)
{
    for (const char* at = value; *at; at += *at == '|') {
        size_t length = strcspn(at, "|"), lower = 0;
        while (lower < length && (islower((unsigned char)at[lower]) || at[lower] == '-')) lower++;
        if (lower == length) fprintf(out, "%.*s ", (int)length, at);
        at += length;
    }
}

/// Words in single quotes of a shell, without those that would end them.
static void print_quoted(FILE* out, const char* text)
{
    for (const char* c = text; *c; c++) {
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    }
}

// ---- bash --------------------------------------------------------------------------------------

/// The line that offers values of a kind.
static const char* bash_offer(value_kind kind)
{
    switch (kind) {
    case VALUE_SCENE: return "_talus_scenes";
    case VALUE_FOLDER: return "_talus_folders";
    case VALUE_FILE: return "_talus_files";
    case VALUE_KEY: return "_talus_keys";
    case VALUE_COMMAND: return "_talus_words \"$_talus_commands\"";
    case VALUE_SHELL: return "_talus_words \"bash zsh fish\"";
    case VALUE_PAPER: return "_talus_words \"$_talus_papers\"";
    case VALUE_TEMPLATE: return "_talus_words \"$_talus_templates\"";
    default: return ":";
    }
}

static void bash_values(FILE* out, const command* c)
{
    help_option o;
    for (const char* at = c->help; help_next_option(&at, &o);) {
        if (!o.value[0] || o.value_may_lack) continue;
        fprintf(out, "        '%s --%s'", c->name, o.names[0]);
        if (o.letter) fprintf(out, "|'%s -%c'", c->name, o.letter);
        fputs(") ", out);
        if (strchr(o.value, '|')) {
            fputs("_talus_words '", out);
            print_alternatives(out, o.value);
            fputs("'; return ;;\n", out);
        } else {
            fprintf(out, "%s; return ;;\n", bash_offer(kind_of_word(o.value)));
        }
    }
}

static void bash_command(FILE* out, const command* c)
{
    fprintf(out, "        %s)\n            if [[ $cur == -* ]]; then _talus_words '--help ",
            c->name);
    help_option o;
    for (const char* at = c->help; help_next_option(&at, &o);) {
        for (int i = 0; i < o.count; i++) fprintf(out, "--%s ", o.names[i]);
    }
    fprintf(out, "'\n            else %s; fi ;;\n", bash_offer(kind_of_argument(c)));
}

static void write_bash(FILE* out)
{
    int count;
    const command* list = command_list(&count);
    fputs("# Completion of talus for bash, written by `talus completion bash`.\n_talus_commands='",
          out);
    print_commands(out);
    fputs("'\n_talus_papers='", out);
    print_papers(out);
    fputs("'\n_talus_templates='", out);
    print_templates(out);
    fputs("'\n_talus_set_keys='", out);
    visit_keys(print_word, out);
    fputs(
        "'\n\n"
        "_talus_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
        "_talus_folders() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "
        "\"$cur\"); }\n"
        "_talus_files() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); "
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
    for (int i = 0; i < count; i++) bash_values(out, &list[i]);
    fputs("    esac\n    case $command in\n", out);
    for (int i = 0; i < count; i++) bash_command(out, &list[i]);
    fputs("    esac\n}\ncomplete -F _talus talus\n", out);
}

// ---- zsh ---------------------------------------------------------------------------------------

static const char* zsh_action(value_kind kind)
{
    switch (kind) {
    case VALUE_SCENE: return "_talus_scenes";
    case VALUE_FOLDER: return "_files -/";
    case VALUE_FILE: return "_files";
    case VALUE_KEY: return "_talus_keys";
    case VALUE_COMMAND: return "_talus_commands";
    case VALUE_SHELL: return "(bash zsh fish)";
    case VALUE_PAPER: return "_talus_papers";
    case VALUE_TEMPLATE: return "_talus_templates";
    default: return " ";
    }
}

/// A description in a specification of _arguments: no brackets, no quotes that end it.
static void print_zsh_words(FILE* out, const char* text)
{
    for (const char* c = text; *c; c++) {
        if (strchr("[]:\\", *c)) fputc('\\', out);
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    }
}

static void print_zsh_value(FILE* out, const char* value)
{
    fputs(":value:", out);
    if (!strchr(value, '|')) {
        fputs(zsh_action(kind_of_word(value)), out);
        return;
    }
    fputc('(', out);
    print_alternatives(out, value);
    fputc(')', out);
}

static void zsh_command(FILE* out, const command* c)
{
    fprintf(out, "        %s) _arguments \\\n", c->name);
    help_option o;
    for (const char* at = c->help; help_next_option(&at, &o);) {
        const bool value = o.value[0] && !o.value_may_lack;
        const char* repeat = strcmp(o.names[0], "set") == 0 ? "*" : "";
        for (int i = o.letter ? -1 : 0; i < o.count; i++) {
            if (i < 0)
                fprintf(out, "            '%s-%c[", repeat, o.letter);
            else
                fprintf(out, "            '%s--%s[", repeat, o.names[i]);
            print_zsh_words(out, o.text);
            fputs("]", out);
            if (value) print_zsh_value(out, o.value);
            fputs("' \\\n", out);
        }
    }
    fprintf(out, "            '--help[explain this command]' '*:argument:%s' ;;\n",
            zsh_action(kind_of_argument(c)));
}

static void write_zsh(FILE* out)
{
    int count;
    const command* list = command_list(&count);
    fputs("#compdef talus\n# Completion of talus for zsh, written by `talus completion zsh`.\n\n"
          "_talus_commands() {\n    local -a commands=(\n",
          out);
    for (int i = 0; i < count; i++) {
        fprintf(out, "        '%s:", list[i].name);
        print_quoted(out, list[i].summary);
        fputs("'\n", out);
    }
    fputs("    )\n    _describe command commands\n}\n"
          "_talus_papers() { compadd -- ",
          out);
    print_papers(out);
    fputs("}\n_talus_templates() { compadd -- ", out);
    print_templates(out);
    fputs("}\n_talus_keys() { compadd -S '' -- ", out);
    visit_keys(print_word, out);
    fputs("}\n_talus_scenes() {\n"
          "    compadd -- ${(f)\"$(talus scenes --names 2>/dev/null)\"}\n"
          "    _files -g '*.(yaml|yml)'\n}\n\n"
          "_talus() {\n"
          "    if ((CURRENT == 2)); then _talus_commands; return; fi\n"
          "    local command=$words[2]\n"
          "    shift words; ((CURRENT--))\n"
          "    case $command in\n",
          out);
    for (int i = 0; i < count; i++) zsh_command(out, &list[i]);
    // Read as a function file by compinit, or sourced.
    fputs("    esac\n}\n\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _talus \"$@\"\n"
          "else compdef _talus talus; fi\n",
          out);
}

// ---- fish --------------------------------------------------------------------------------------

static const char* fish_values(value_kind kind)
{
    switch (kind) {
    case VALUE_SCENE: return " -F -a '(talus scenes --names 2>/dev/null)'";
    case VALUE_FOLDER: return " -f -a '(__fish_complete_directories)'";
    case VALUE_FILE: return " -F";
    case VALUE_KEY: return " -f -a \"$talus_set_keys\"";
    case VALUE_COMMAND: return " -f -a \"$talus_commands\"";
    case VALUE_SHELL: return " -f -a 'bash zsh fish'";
    case VALUE_PAPER: return " -f -a \"$talus_papers\"";
    case VALUE_TEMPLATE: return " -f -a \"$talus_templates\"";
    default: return " -f";
    }
}

static void print_fish_words(FILE* out, const char* text)
{
    for (const char* c = text; *c; c++) {
        if (*c == '\'' || *c == '\\') fputc('\\', out);
        fputc(*c, out);
    }
}

static void fish_command(FILE* out, const command* c)
{
    fprintf(out, "complete -c talus -n __fish_use_subcommand -f -a %s -d '", c->name);
    print_fish_words(out, c->summary);
    fprintf(out, "'\ncomplete -c talus -n '__fish_seen_subcommand_from %s'%s\n", c->name,
            fish_values(kind_of_argument(c)));
    help_option o;
    for (const char* at = c->help; help_next_option(&at, &o);) {
        fprintf(out, "complete -c talus -n '__fish_seen_subcommand_from %s'", c->name);
        for (int i = 0; i < o.count; i++) fprintf(out, " -l %s", o.names[i]);
        if (o.letter) fprintf(out, " -s %c", o.letter);
        if (o.value[0] && !o.value_may_lack) {
            fputs(" -r", out);
            if (strchr(o.value, '|')) {
                fputs(" -f -a '", out);
                print_alternatives(out, o.value);
                fputc('\'', out);
            } else {
                fputs(fish_values(kind_of_word(o.value)), out);
            }
        }
        fputs(" -d '", out);
        print_fish_words(out, o.text);
        fputs("'\n", out);
    }
}

static void write_fish(FILE* out)
{
    int count;
    const command* list = command_list(&count);
    fputs("# Completion of talus for fish, written by `talus completion fish`.\n"
          "set -g talus_commands '",
          out);
    print_commands(out);
    fputs("'\nset -g talus_papers '", out);
    print_papers(out);
    fputs("'\nset -g talus_templates '", out);
    print_templates(out);
    fputs("'\nset -g talus_set_keys '", out);
    visit_keys(print_word, out);
    fputs("'\n", out);
    for (int i = 0; i < count; i++) fish_command(out, &list[i]);
}

int command_completion(int argc, char** argv)
{
    static const struct option list[] = {{"help", no_argument, NULL, 'h'}, {0}};
    optind = 1;
    int choice = options_next(argc, argv, ":h", list);
    if (choice == 'h') print_command_help(command_find("completion"));
    if (choice != -1) return choice == 'h' ? STATUS_OK : STATUS_USAGE;
    const char* shell = options_single(argc, argv, "a shell (bash, zsh or fish)");
    if (!shell) return STATUS_USAGE;
    static const struct {
        const char* name;
        void (*write)(FILE* out);
    } shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shell, shells[i].name) != 0) continue;
        shells[i].write(stdout);
        return STATUS_OK;
    }
    fprintf(stderr, "talus: the shell '%s' is not known (expected bash, zsh or fish)\n", shell);
    return STATUS_USAGE;
}
