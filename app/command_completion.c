/// talus completion bash|zsh|fish: a script that completes commands, options, scenes and keys.
///
/// Commands and options come from the table of commands and its help texts, keys of `--set` from
/// the table of keys; ready-made scenes are asked for when the completion is used, because there
/// may be others then.
#include "app.h"

#include "list.h"
#include "measure.h"
#include "plot.h"
#include "render.h"
#include "scene/keys.h"
#include "templates.h"

#include <ctype.h>
#include <string.h>

// ---- what there is -----------------------------------------------------------------------------

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

static void print_shells(FILE* out)
{
    fputs("bash zsh fish ", out);
}

static void print_quantities(FILE* out)
{
    int count;
    const measure_quantity* list = measure_quantities(&count);
    for (int i = 0; i < count; i++) print_word(out, list[i].name);
}

static void print_plots(FILE* out)
{
    const char* name;
    for (int i = 0; (name = plot_name(i)) != NULL; i++) print_word(out, name);
}

static void print_fields(FILE* out)
{
    const char* name;
    for (int i = 0; (name = field_name(i)) != NULL; i++) print_word(out, name);
}

static void print_maps(FILE* out)
{
    for (int i = 0; i < TALUS_MAP_COUNT; i++) print_word(out, talus_map_name((talus_map)i));
}

static void print_formats(FILE* out)
{
    const char* name;
    for (int i = 0; (name = import_format_name(i)) != NULL; i++) print_word(out, name);
}

static void print_sections(FILE* out)
{
    const key_section* s;
    for (int i = 0; (s = keys_at(i)) != NULL; i++) {
        print_word(out, s->pattern[0] ? s->pattern : "scene");
    }
}

/// What an argument or the value of an option is.
typedef enum value_kind {
    VALUE_OTHER,
    VALUE_SCENE,
    VALUE_FOLDER,
    VALUE_FILE,
    VALUE_KEY,
    VALUE_LISTED,
} value_kind;

/// A word of usage lines and help texts that says what stands there.
typedef struct value_word {
    const char* word;
    value_kind kind;
    const char* list;         ///< VALUE_LISTED: name of the list in the scripts
    void (*print)(FILE* out); ///< its words
    bool odd;                 ///< words need quotes in a shell
} value_word;

static const value_word value_words[] = {
    {"SCENE.yaml", VALUE_FILE, NULL, NULL, false},
    {"SCENE", VALUE_SCENE, NULL, NULL, false},
    {"DIR", VALUE_FOLDER, NULL, NULL, false},
    {"FILE", VALUE_FILE, NULL, NULL, false},
    {"OUT", VALUE_FILE, NULL, NULL, false},
    {"PATH", VALUE_FILE, NULL, NULL, false},
    {"key.path=value", VALUE_KEY, NULL, NULL, false},
    {"COMMAND", VALUE_LISTED, "commands", print_commands, false},
    {"bash", VALUE_LISTED, "shells", print_shells, false},
    {"NAME...", VALUE_LISTED, "papers", print_papers, false},
    {"TEMPLATE", VALUE_LISTED, "templates", print_templates, false},
    {"QUANTITY...", VALUE_LISTED, "quantities", print_quantities, false},
    {"WHAT...", VALUE_LISTED, "plots", print_plots, false},
    {"FIELD", VALUE_LISTED, "fields", print_fields, false},
    {"MAP", VALUE_LISTED, "maps", print_maps, false},
    {"FORMAT", VALUE_LISTED, "formats", print_formats, false},
    {"SECTION", VALUE_LISTED, "sections", print_sections, true},
};
enum { WORD_COUNT = sizeof value_words / sizeof *value_words };

static const value_word* find_word(const char* text)
{
    static const value_word other = {"", VALUE_OTHER, NULL, NULL, false};
    for (int i = 0; i < WORD_COUNT; i++) {
        size_t length = strlen(value_words[i].word);
        const bool same = strncmp(text, value_words[i].word, length) == 0;
        if (same && !isalnum((unsigned char)text[length])) return &value_words[i];
    }
    return &other;
}

/// What an argument of a command is, counted from 0, by its usage line.
static const value_word* find_argument(const command* c, int index)
{
    const char* at = strchr(c->usage, ' ');
    for (int i = 0; at && i < index; i++) at = strchr(at + 1, ' ');
    return find_word(at ? at + strspn(at, " [") : "");
}

/// The list from which the arguments behind the first come; NULL: none.
static const value_word* find_more(const command* c)
{
    const value_word* more = find_argument(c, 1);
    return more->kind == VALUE_LISTED ? more : NULL;
}

/// Whether the values of an option are those that its help names: "png|svg|pdf".
static bool has_alternatives(const help_option* o)
{
    return strchr(o->value, '|') && find_word(o->value)->kind == VALUE_OTHER;
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

/// All lists, each between `before`, which has a place for its name, and `after`.
static void print_lists(FILE* out, const char* before, const char* after)
{
    for (int i = 0; i < WORD_COUNT; i++) {
        if (value_words[i].kind != VALUE_LISTED) continue;
        for (const char* c = before; *c; c++) {
            const bool name = strncmp(c, "%s", 2) == 0;
            if (name) fputs(value_words[i].list, out);
            if (!name) fputc(*c, out);
            c += name;
        }
        value_words[i].print(out);
        fputs(after, out);
    }
}

// ---- bash --------------------------------------------------------------------------------------

/// The command that offers values.
static void bash_offer(FILE* out, const value_word* w)
{
    switch (w->kind) {
    case VALUE_SCENE: fputs("_talus_scenes", out); break;
    case VALUE_FOLDER: fputs("_talus_folders", out); break;
    case VALUE_FILE: fputs("_talus_files", out); break;
    case VALUE_KEY: fputs("_talus_keys", out); break;
    case VALUE_LISTED:
        // Bash quotes what it takes for names of files.
        fprintf(out, "%s_talus_words \"$_talus_%s\"", w->odd ? "compopt -o filenames; " : "",
                w->list);
        break;
    default: fputs(":", out); break;
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
        if (has_alternatives(&o)) {
            fputs("_talus_words '", out);
            print_alternatives(out, o.value);
            fputc('\'', out);
        } else {
            bash_offer(out, find_word(o.value));
        }
        fputs("; return ;;\n", out);
    }
}

/// The arguments: where the later ones are of another kind, those before are counted, without the
/// values of options.
static void bash_arguments(FILE* out, const command* c)
{
    const value_word* more = find_more(c);
    if (more) {
        fputs("elif _talus_behind_first '", out);
        help_option o;
        for (const char* at = c->help; help_next_option(&at, &o);) {
            if (!o.value[0] || o.value_may_lack) continue;
            fprintf(out, "--%s ", o.names[0]);
            if (o.letter) fprintf(out, "-%c ", o.letter);
        }
        fputs("'; then ", out);
        bash_offer(out, more);
        fputs("\n            ", out);
    }
    fputs("else ", out);
    bash_offer(out, find_argument(c, 0));
}

static void bash_command(FILE* out, const command* c)
{
    fprintf(out, "        %s)\n            if [[ $cur == -* ]]; then _talus_words '--help ",
            c->name);
    help_option o;
    for (const char* at = c->help; help_next_option(&at, &o);) {
        for (int i = 0; i < o.count; i++) fprintf(out, "--%s ", o.names[i]);
    }
    fputs("'\n            ", out);
    bash_arguments(out, c);
    fputs("; fi ;;\n", out);
}

static void write_bash(FILE* out)
{
    int count;
    const command* list = command_list(&count);
    fputs("# Completion of talus for bash, written by `talus completion bash`.\n", out);
    print_lists(out, "_talus_%s='", "'\n");
    fputs("_talus_set_keys='", out);
    visit_keys(print_word, out);
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
    for (int i = 0; i < count; i++) bash_values(out, &list[i]);
    fputs("    esac\n    case $command in\n", out);
    for (int i = 0; i < count; i++) bash_command(out, &list[i]);
    fputs("    esac\n}\ncomplete -F _talus talus\n", out);
}

// ---- zsh ---------------------------------------------------------------------------------------

static void zsh_action(FILE* out, const value_word* w)
{
    switch (w->kind) {
    case VALUE_SCENE: fputs("_talus_scenes", out); break;
    case VALUE_FOLDER: fputs("_files -/", out); break;
    case VALUE_FILE: fputs("_files", out); break;
    case VALUE_KEY: fputs("_talus_keys", out); break;
    case VALUE_LISTED: fprintf(out, "_talus_%s", w->list); break;
    default: fputc(' ', out); break;
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

static void print_zsh_value(FILE* out, const help_option* o)
{
    fputs(":value:", out);
    if (!has_alternatives(o)) {
        zsh_action(out, find_word(o->value));
        return;
    }
    fputc('(', out);
    print_alternatives(out, o->value);
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
            if (value) print_zsh_value(out, &o);
            fputs("' \\\n", out);
        }
    }
    const value_word* more = find_more(c);
    fprintf(out, "            '--help[explain this command]' '%s:argument:", more ? "1" : "*");
    zsh_action(out, find_argument(c, 0));
    if (more) {
        fputs("' '*:argument:", out);
        zsh_action(out, more);
    }
    fputs("' ;;\n", out);
}

static void write_zsh(FILE* out)
{
    int count;
    const command* list = command_list(&count);
    fputs("#compdef talus\n# Completion of talus for zsh, written by `talus completion zsh`.\n\n"
          "_talus_described() {\n    local -a commands=(\n",
          out);
    for (int i = 0; i < count; i++) {
        fprintf(out, "        '%s:", list[i].name);
        print_quoted(out, list[i].summary);
        fputs("'\n", out);
    }
    fputs("    )\n    _describe command commands\n}\n", out);
    print_lists(out, "_talus_%s() { local list='", "'; compadd -- ${=list}; }\n");
    fputs("_talus_keys() { compadd -S '' -- ", out);
    visit_keys(print_word, out);
    fputs("}\n_talus_scenes() {\n"
          "    compadd -- ${(f)\"$(talus scenes --names 2>/dev/null)\"}\n"
          "    _files -g '*.(yaml|yml)'\n}\n\n"
          "_talus() {\n"
          "    if ((CURRENT == 2)); then _talus_described; return; fi\n"
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

static void fish_values(FILE* out, const value_word* w)
{
    switch (w->kind) {
    case VALUE_SCENE: fputs(" -F -a '(talus scenes --names 2>/dev/null)'", out); break;
    case VALUE_FOLDER: fputs(" -f -a '(__fish_complete_directories)'", out); break;
    case VALUE_FILE: fputs(" -F", out); break;
    case VALUE_KEY: fputs(" -f -a \"$talus_set_keys\"", out); break;
    case VALUE_LISTED:
        fprintf(out, " -f -a '(string split -n \" \" -- $talus_%s)'", w->list);
        break;
    default: fputs(" -f", out); break;
    }
}

static void print_fish_words(FILE* out, const char* text)
{
    for (const char* c = text; *c; c++) {
        if (*c == '\'' || *c == '\\') fputc('\\', out);
        fputc(*c, out);
    }
}

static void fish_arguments(FILE* out, const command* c, const value_word* w)
{
    fprintf(out, "complete -c talus -n '__fish_seen_subcommand_from %s'", c->name);
    fish_values(out, w);
    fputc('\n', out);
}

static void fish_command(FILE* out, const command* c)
{
    fprintf(out, "complete -c talus -n __fish_use_subcommand -f -a %s -d '", c->name);
    print_fish_words(out, c->summary);
    fputs("'\n", out);
    fish_arguments(out, c, find_argument(c, 0));
    if (find_more(c)) fish_arguments(out, c, find_more(c));
    help_option o;
    for (const char* at = c->help; help_next_option(&at, &o);) {
        fprintf(out, "complete -c talus -n '__fish_seen_subcommand_from %s'", c->name);
        for (int i = 0; i < o.count; i++) fprintf(out, " -l %s", o.names[i]);
        if (o.letter) fprintf(out, " -s %c", o.letter);
        if (o.value[0] && !o.value_may_lack) {
            fputs(" -r", out);
            if (has_alternatives(&o)) {
                fputs(" -f -a '", out);
                print_alternatives(out, o.value);
                fputc('\'', out);
            } else {
                fish_values(out, find_word(o.value));
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
    fputs("# Completion of talus for fish, written by `talus completion fish`.\n", out);
    print_lists(out, "set -g talus_%s '", "'\n");
    fputs("set -g talus_set_keys '", out);
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
