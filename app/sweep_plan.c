/// What a study consists of: values of keys, their combinations, runs and their folders.
#include "sweep.h"

#include "base/words.h"
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool keep_value(sweep_key* key, const char* text, size_t length)
{
    if (length >= SWEEP_TEXT) {
        fprintf(stderr, "talus: --vary %s: a value of more than %d letters\n", key->path,
                SWEEP_TEXT - 1);
        return false;
    }
    char** more = realloc(key->value, sizeof *more * ((size_t)key->count + 1));
    if (more) key->value = more;
    char* copy = more ? strndup(text, length) : NULL;
    if (!copy) {
        fprintf(stderr, "talus: no memory for the values of %s\n", key->path);
        return false;
    }
    key->value[key->count++] = copy;
    return true;
}

/// low:high:count, and :log behind it for equal ratios instead of equal distances.
static bool read_range(sweep_key* key, const char* text)
{
    double low, high;
    long count;
    char rest[8] = "";
    const int found = sscanf(text, "%lf:%lf:%ld%7s", &low, &high, &count, rest);
    const bool logarithmic = strcmp(rest, ":log") == 0;
    if (found < 3 || (rest[0] && !logarithmic) || !isfinite(low) || !isfinite(high) || count < 2 ||
        count > 10000) {
        fprintf(stderr,
                "talus: --vary %s: '%s' is no range (expected low:high:count with a count of at "
                "least 2, low:high:count:log or a,b,c)\n",
                key->path, text);
        return false;
    }
    if (logarithmic && !(low > 0 && high > 0)) {
        fprintf(stderr, "talus: --vary %s: ends of a logarithmic range must be above 0\n",
                key->path);
        return false;
    }
    for (long i = 0; i < count; i++) {
        const double part = (double)i / (double)(count - 1);
        const double value = logarithmic ? low * pow(high / low, part) : low + part * (high - low);
        char words[32];
        snprintf(words, sizeof words, "%.9g", i + 1 == count ? high : value);
        if (!keep_value(key, words, strlen(words))) return false;
    }
    return true;
}

/// Length of the next value, up to a comma that is not within brackets.
static size_t value_length(const char* text)
{
    int depth = 0;
    size_t i = 0;
    for (; text[i] && (text[i] != ',' || depth > 0); i++) {
        depth += (text[i] == '[' || text[i] == '{') - (text[i] == ']' || text[i] == '}');
    }
    return i;
}

bool sweep_add_key(sweep* s, const char* text)
{
    const char* equals = strchr(text, '=');
    if (s->key_count == SWEEP_KEYS) {
        fprintf(stderr, "talus: more than %d keys are too many for one study\n", SWEEP_KEYS);
        return false;
    }
    sweep_key* key = &s->key[s->key_count];
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof key->path || !equals[1]) {
        fprintf(stderr, "talus: --vary %s: expected key.path=a,b,c or key.path=low:high:count\n",
                text);
        return false;
    }
    snprintf(key->path, sizeof key->path, "%.*s", (int)(equals - text), text);
    s->key_count++;
    if (!strpbrk(equals, ",[{") && strchr(equals, ':')) return read_range(key, equals + 1);
    for (const char* at = equals + 1;;) {
        const size_t length = value_length(at);
        if (length == 0) {
            fprintf(stderr, "talus: --vary %s: a value is empty\n", key->path);
            return false;
        }
        if (!keep_value(key, at, length)) return false;
        if (!at[length]) return true;
        at += length + 1;
    }
}

bool sweep_add_measures(sweep* s, const char* text)
{
    for (const char* at = text; *at;) {
        const size_t length = strcspn(at, ",");
        if (s->measure_count == SWEEP_MEASURES || !memchr(at, '.', length)) {
            fprintf(stderr,
                    "talus: --measure '%.*s': expected at most %d names such as "
                    "coordination.all_grains (of `talus measure`) or series.kinetic_energy\n",
                    (int)length, at, SWEEP_MEASURES);
            return false;
        }
        char* copy = strndup(at, length);
        if (!copy) return false;
        s->measure[s->measure_count++] = copy;
        const char* column;
        char quantity[64];
        snprintf(quantity, sizeof quantity, "%.*s", (int)strcspn(copy, "."), copy);
        if (!sweep_of_series(copy, &column) && value_find(&value_quantity, quantity) < 0) {
            return false;
        }
        at += length + (at[length] == ',');
    }
    return true;
}

const char* sweep_value(const sweep* s, int point, int key)
{
    for (int k = s->key_count - 1; k > key; k--) point /= s->key[k].count;
    return s->key[key].value[point % s->key[key].count];
}

/// Load the scene with these values; says what is wrong with it.
static int check_scene(const sweep* s, const char* set)
{
    talus_scene* scene = NULL;
    talus_report report = {0};
    talus_error error = {0};
    const char** sets = malloc(sizeof *sets * ((size_t)s->sets.count + 1));
    if (!sets) {
        fprintf(stderr, "talus: out of memory\n");
        return STATUS_FAILURE;
    }
    for (int i = 0; i < s->sets.count; i++) sets[i] = s->sets.items[i];
    sets[s->sets.count] = set;
    const talus_status status =
        talus_scene_load(s->scene, sets, s->sets.count + (set != NULL), &scene, &report, &error);
    int answer = STATUS_OK;
    if (status < 0) {
        print_problems(&report, &error);
        answer = status == TALUS_ERR_SCENE ? STATUS_SCENE : STATUS_FAILURE;
    }
    for (int k = 0; !set && answer == STATUS_OK && k < s->key_count; k++) {
        char words[512];
        if (scene_leads_to(scene, s->key[k].path, words, sizeof words)) continue;
        fprintf(stderr, "talus: --vary %s: %s\n", s->key[k].path, words);
        answer = STATUS_SCENE;
    }
    talus_report_clear(&report);
    talus_scene_destroy(scene);
    free(sets);
    return answer;
}

/// Every value of every key must make a scene, before the first run begins.
static int check_values(const sweep* s)
{
    int status = check_scene(s, NULL);
    for (int k = 0; k < s->key_count; k++) {
        for (int i = 0; status == STATUS_OK && i < s->key[k].count; i++) {
            char set[2 * SWEEP_TEXT];
            snprintf(set, sizeof set, "%s=%s", s->key[k].path, s->key[k].value[i]);
            status = check_scene(s, set);
        }
    }
    return status;
}

/// "friction=0.3_seed=2", with letters that every file system takes.
static void name_run(const sweep* s, int number, sweep_run* r)
{
    char name[2 * SWEEP_NAME] = "";
    size_t used = 0;
    for (int k = 0; k < s->key_count && used < SWEEP_NAME; k++) {
        const char* dot = strrchr(s->key[k].path, '.');
        const char* word = dot ? dot + 1 : s->key[k].path;
        for (int other = 0; other < s->key_count;
             other++) { // two keys of one name: all of the path
            const char* its = strrchr(s->key[other].path, '.');
            if (other != k && strcmp(its ? its + 1 : s->key[other].path, word) == 0) {
                word = s->key[k].path;
            }
        }
        used += (size_t)snprintf(name + used, sizeof name - used, "%s%.90s=%.90s", k ? "_" : "",
                                 word, sweep_value(s, r->point, k));
    }
    if (r->seed > 0) {
        used += (size_t)snprintf(name + used, sizeof name - used, "%sseed=%d", used ? "_" : "",
                                 r->seed);
    }
    if (used == 0 || used >= SWEEP_NAME) {
        snprintf(name, sizeof name, "run-%05d", number);
    }
    for (char* c = name; *c; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                           (*c >= '0' && *c <= '9') || strchr("._=-+", *c);
        if (!plain) *c = '-';
    }
    snprintf(r->name, sizeof r->name, "%.*s", SWEEP_NAME - 1, name);
}

int sweep_plan(sweep* s)
{
    const int status = check_values(s);
    if (status != STATUS_OK) return status;
    int64_t points = 1;
    for (int k = 0; k < s->key_count; k++) points *= s->key[k].count;
    const int64_t runs = points * s->seeds;
    if (runs > SWEEP_RUNS) {
        fprintf(stderr, "talus: %lld runs are too many for one study (at most %d)\n",
                (long long)runs, SWEEP_RUNS);
        return STATUS_USAGE;
    }
    s->run = calloc((size_t)runs, sizeof *s->run);
    if (!s->run) {
        fprintf(stderr, "talus: no memory for the list of runs\n");
        return STATUS_FAILURE;
    }
    s->point_count = (int)points;
    s->run_count = (int)runs;
    for (int i = 0; i < s->run_count; i++) {
        sweep_run* r = &s->run[i];
        r->point = i / s->seeds;
        r->seed = s->seeds_said ? 1 + i % s->seeds : 0;
        name_run(s, i, r);
        for (int m = 0; m < SWEEP_MEASURES; m++) r->value[m] = NAN;
    }
    return STATUS_OK;
}

void sweep_free(sweep* s)
{
    for (int k = 0; k < s->key_count; k++) {
        for (int i = 0; i < s->key[k].count; i++) free(s->key[k].value[i]);
        free(s->key[k].value);
    }
    for (int m = 0; m < s->measure_count; m++) free(s->measure[m]);
    free(s->sets.items);
    free(s->run);
}
