/// The table of a scene's keys: the reader asks for every row in every variant of its section and
/// for nothing else, the rows make sense, and the reference shows them as they are.
#include "support.h"

#include "scene/model.h"

#include <stdlib.h>
#include <string.h>
#include <talus/record.h>
#include <unistd.h>

/// Scenes that together have every variant of every section.
static const char* const scenes[] = {
    "tests/scenes/every_key_2d.yaml",     "tests/scenes/every_key_3d.yaml",
    "tests/scenes/every_shape_2d.yaml",   "tests/scenes/every_shape_3d.yaml",
    "tests/scenes/every_variant_2d.yaml", "tests/scenes/every_variant_3d.yaml",
};

enum { MOST_READS = 4000 };

typedef struct read_set {
    key_read read[MOST_READS];
    int count;
} read_set;

static void collect(read_set* set, const char* path)
{
    talus_scene* scene = NULL;
    talus_error error = {0};
    check_ok(talus_scene_load(path, NULL, 0, &scene, NULL, &error), error);
    assert_true(set->count + scene->reader.read_count <= MOST_READS);
    for (int i = 0; i < scene->reader.read_count; i++) {
        const key_read* read = &scene->reader.reads[i];
        if (!read->fits) print_message("%s: %s is read where it is not\n", path, read->row->key);
        assert_true(read->fits);
        set->read[set->count++] = *read;
    }
    talus_scene_destroy(scene);
}

/// A scene that goes on with a saved world.
static void collect_saved(read_set* set)
{
    char folder[] = "/tmp/talus-keys-XXXXXX", path[64], saved[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/scene.yaml", folder);
    snprintf(saved, sizeof saved, "%s/world.h5", folder);
    talus_error error = {0};
    talus_world_def def = talus_world_default();
    talus_world* world;
    check_ok(talus_world_create(&def, &world, &error), error);
    check_ok(talus_world_save(world, saved, &error), error);
    talus_world_destroy(world);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "{dimension: 3, world: world.h5, step: 1, threads: 2, until: {steps: 1}}\n");
    assert_int_equal(fclose(file), 0);
    collect(set, path);
    assert_int_equal(unlink(path) + unlink(saved) + rmdir(folder), 0);
}

static bool was_read(const read_set* set, const key_section* s, const key_row* row,
                     const char* variant)
{
    for (int i = 0; i < set->count; i++) {
        const key_read* read = &set->read[i];
        if (read->section != s || read->row != row) continue;
        if (!variant || (read->variant && strcmp(read->variant, variant) == 0)) return true;
    }
    return false;
}

/// Rows that are not read in this variant (NULL: in any).
static int count_dead(const read_set* set, const key_section* s, const char* variant)
{
    int dead = 0;
    for (int i = 0; i < keys_row_count(s); i++) {
        const key_row* row = keys_row(s, i);
        if (!keys_fits(row->only, variant) || was_read(set, s, row, variant)) continue;
        // Common rows that are read before the variant is known, or with one dimension's row.
        const bool early = variant && !row->only && was_read(set, s, row, NULL);
        if (early) continue;
        print_message("never read: %s, %s (%s, dimension %d)\n", s->pattern, row->key,
                      variant ? variant : "-", row->dim);
        dead++;
    }
    return dead;
}

static void test_every_row_is_read(void** state)
{
    (void)state;
    read_set* set = calloc(1, sizeof *set);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) collect(set, scenes[i]);
    collect_saved(set);
    const key_section* s;
    int dead = 0, rows = 0;
    for (int i = 0; (s = keys_at(i)) != NULL; i++) {
        rows += keys_row_count(s);
        dead += count_dead(set, s, NULL);
        const char* variant;
        for (int v = 0; (variant = keys_variant(s, v)) != NULL; v++) {
            dead += count_dead(set, s, variant);
        }
    }
    assert_int_equal(dead, 0);
    assert_true(rows > 250);
    free(set);
}

/// Whether every word of a list is a key of the section, or one of its variants.
static void check_words(const key_section* s, const char* list, bool variants)
{
    char word[64];
    const char* rest = list && list[0] == '-' ? list + 1 : list;
    while (rest && keys_next_word(&rest, word, sizeof word)) {
        word[strcspn(word, "[")] = '\0';
        bool found = !variants && keys_find(s, word, NULL, 0);
        const char* variant;
        for (int v = 0; variants && (variant = keys_variant(s, v)) != NULL; v++) {
            found = found || strcmp(variant, word) == 0;
        }
        if (!found) print_message("%s: there is no '%s'\n", s->pattern, word);
        assert_true(found);
    }
}

/// Whether a member can hold what stands under the key.
static void check_member(const key_row* row, const key_member* m)
{
    static const unsigned kinds[] = {
        [MEMBER_REAL] = KEY_REAL,      [MEMBER_REALS] = KEY_VECTOR | KEY_AXIAL,
        [MEMBER_INT] = KEY_INTEGER,    [MEMBER_INT64] = KEY_INTEGER,
        [MEMBER_UINT64] = KEY_INTEGER, [MEMBER_BOOL] = KEY_BOOL | KEY_CHOICE,
        [MEMBER_BOOLS] = KEY_TEXTS,    [MEMBER_ENUM] = KEY_CHOICE,
        [MEMBER_TEXT] = KEY_TEXT,
    };
    if (!m->of) return;
    assert_true((row->kinds & kinds[m->type]) == row->kinds);
    assert_true(m->factor == 1.0 || m->type == MEMBER_REAL || m->type == MEMBER_REALS);
    if (m->type == MEMBER_BOOL && row->kinds == KEY_CHOICE) assert_int_equal(row->choice_count, 2);
    if (m->type == MEMBER_BOOLS) assert_true(row->choice_count == 2 || row->choice_count == 3);
    if (row->kinds == KEY_INTEGER && row->required) assert_non_null(row->missing);
    // A whole number must fit into the member.
    if (m->type == MEMBER_INT) assert_true(row->least >= INT32_MIN && row->most <= INT32_MAX);
    if (m->type == MEMBER_UINT64) assert_true(row->least >= 0);
}

static void check_row(const key_section* s, const key_row* row)
{
    assert_true(row->kinds != 0);
    assert_non_null(row->meaning);
    assert_false(row->required && row->otherwise);
    if (row->kinds & KEY_CHOICE) assert_true(row->choice_count > 0);
    if (row->kinds & KEY_INTEGER) assert_true(row->least < row->most);
    for (int i = 0; i < KEY_COUNT(row->into); i++) check_member(row, &row->into[i]);
    // Only a section with variants of its own, or inside one, has rows for some of them.
    const char* home =
        strcmp(s->pattern, "grains[].bottom") == 0 || strcmp(s->pattern, "grains[].items[]") == 0
            ? "grains[]"
            : s->pattern;
    check_words(keys_section(home), row->only, true);
    check_words(s, row->needs, false);
    // What stands below a key is a section of the table.
    char pattern[256];
    const char* dot = s->pattern[0] ? "." : "";
    static const struct {
        unsigned kind;
        const char* end;
    } below[] = {{KEY_MAP, ""}, {KEY_LIST, "[]"}, {KEY_NAMED, ".<name>"}};
    for (int i = 0; i < 3; i++) {
        if (!(row->kinds & below[i].kind)) continue;
        snprintf(pattern, sizeof pattern, "%s%s%s%s", s->pattern, dot, row->key, below[i].end);
        if (!keys_section(pattern)) print_message("no section %s\n", pattern);
        assert_non_null(keys_section(pattern));
    }
}

static void test_rows_make_sense(void** state)
{
    (void)state;
    const key_section* s;
    for (int i = 0; (s = keys_at(i)) != NULL; i++) {
        assert_ptr_equal(keys_section(s->pattern), s);
        for (int k = 0; k < keys_row_count(s); k++) check_row(s, keys_row(s, k));
        for (int g = 0; g < s->group_count; g++) {
            check_words(s, s->groups[g].keys, false);
            check_words(s, s->groups[g].only, true);
        }
        // In each variant and dimension a key has one row.
        for (int k = 0; k < keys_row_count(s); k++) {
            const key_row* row = keys_row(s, k);
            const char* variant;
            for (int v = 0; (variant = keys_variant(s, v)) != NULL || v == 0; v++) {
                if (variant && !keys_fits(row->only, variant)) continue;
                if (!variant && s->selector) break;
                assert_ptr_equal(keys_find(s, row->key, variant, row->dim), row);
            }
        }
    }
}

static int choice_index(const key_row* row)
{
    int index = 0;
    while (index < row->choice_count && strcmp(row->choices[index], row->otherwise) != 0) index++;
    return row->kinds & KEY_BOOL ? strcmp(row->otherwise, "true") == 0 : index;
}

/// What a key that is left out puts into the struct is what the struct's own default has there.
static void check_defaults(const char* pattern, const char* type, const void* defaults)
{
    const key_section* s = keys_section(pattern);
    int checked = 0;
    for (int i = 0; i < keys_row_count(s); i++) {
        const key_row* row = keys_row(s, i);
        for (int k = 0; k < KEY_COUNT(row->into); k++) {
            const key_member* m = &row->into[k];
            if (!m->of || strcmp(m->of, type) != 0 || !row->otherwise) continue;
            const void* at = (const char*)defaults + m->offset;
            const double value = strtod(row->otherwise, NULL);
            switch (m->type) {
            case MEMBER_REAL: assert_true(*(const double*)at == m->factor * value); break;
            case MEMBER_REALS:
                for (int c = 0; c < 3; c++) assert_true(((const double*)at)[c] == value);
                break;
            case MEMBER_INT: assert_int_equal(*(const int*)at, (int)value); break;
            case MEMBER_INT64: assert_int_equal(*(const int64_t*)at, (int64_t)value); break;
            case MEMBER_UINT64: assert_int_equal(*(const uint64_t*)at, (uint64_t)value); break;
            case MEMBER_BOOL: assert_int_equal(*(const bool*)at, choice_index(row)); break;
            case MEMBER_ENUM: assert_int_equal(*(const unsigned*)at, choice_index(row)); break;
            case MEMBER_BOOLS:
            case MEMBER_TEXT: fail_msg("%s.%s: no default to compare", pattern, row->key);
            }
            checked++;
        }
    }
    assert_true(checked > 0);
}

#define CHECK_DEFAULTS(pattern, type, value) check_defaults(pattern, #type, &(type[1]){value})

static void test_defaults_are_those_of_the_structs(void** state)
{
    (void)state;
    CHECK_DEFAULTS("", talus_world_def, talus_world_default());
    CHECK_DEFAULTS("policies", talus_world_def, talus_world_default());
    CHECK_DEFAULTS("solver", talus_solver_def, talus_world_default().solver);
    CHECK_DEFAULTS("soft", talus_soft_def, talus_world_default().soft);
    CHECK_DEFAULTS("materials.<name>", talus_pair_def, talus_pair_default());
    CHECK_DEFAULTS("walls[].motion", talus_drive_def, talus_drive_default());
    CHECK_DEFAULTS("grains[]", talus_grain_def, talus_grain_default());
    CHECK_DEFAULTS("grains[]", lattice_def, lattice_default());
    CHECK_DEFAULTS("grains[]", fill_def, fill_default());
    CHECK_DEFAULTS("grains[]", inlet_def, inlet_default());
}

/// The tables of docs/scenes.md are those of the sections, each once.
static void test_reference_is_up_to_date(void** state)
{
    (void)state;
    static char page[400000];
    FILE* file = fopen("docs/scenes.md", "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    assert_true(size < sizeof page - 1);
    int stale = 0;
    const key_section* s;
    for (int i = 0; (s = keys_at(i)) != NULL; i++) {
        char* text = NULL;
        size_t length = 0;
        FILE* out = open_memstream(&text, &length);
        assert_non_null(out);
        fprintf(out, "<!-- keys: %s -->\n\n", s->pattern[0] ? s->pattern : "scene");
        keys_write_markdown(out, s);
        fprintf(out, "\n<!-- end -->\n");
        fclose(out);
        const char* found = strstr(page, text);
        if (!found || strstr(found + 1, text)) {
            print_message("docs/scenes.md: the table of '%s' is not up to date (run "
                          "scripts/update-scene-keys.py)\n",
                          s->pattern);
            stale++;
        }
        free(text);
    }
    assert_int_equal(stale, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_make_sense),
        cmocka_unit_test(test_every_row_is_read),
        cmocka_unit_test(test_defaults_are_those_of_the_structs),
        cmocka_unit_test(test_reference_is_up_to_date),
    };
    const char* source = getenv("TALUS_SOURCE");
    if (source && chdir(source) != 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
