/// LMGC90's text files, as its pre-processor (pylmgc90.pre) and LMGC90 itself write them:
/// BODIES.DAT, DOF.INI, DRV_DOF.DAT, BULK_BEHAV.DAT, TACT_BEHAV.DAT.
///
/// A line that begins with $ opens a section; numbers stand behind their names, as in
/// "coo1= 1.0000000D+00". Names and order of sections follow the modules mod_RBDY2, mod_RBDY3 and
/// the pre-processor's writers; columns are not counted, as files differ in them.
#include "scene/import_lmgc90.h"

#include "base/array.h"
#include "base/vec.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONTACTORS = 4096 };

bool lmgc90_value(const char* line, const char* key, double* out)
{
    const size_t length = strlen(key);
    for (const char* at = line; (at = strstr(at, key)) != NULL; at += length) {
        if (at > line && isalnum((unsigned char)at[-1])) continue;
        const char* value = at + length;
        value += strspn(value, " \t");
        if (*value++ != '=') continue;
        value += strspn(value, " \t");
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(value, " \t"), value);
        return import_number(word, out);
    }
    return false;
}

void lmgc90_copy(char out[LMGC90_WORD], const char* word)
{
    snprintf(out, LMGC90_WORD, "%.*s", LMGC90_WORD - 1, word ? word : "");
}

/// The next line that is neither empty nor a comment.
static int next_line(import_file* f)
{
    int found;
    do found = import_line(f);
    while (found > 0 && (f->line[0] == '!' || !f->line[strspn(f->line, " \t")]));
    return found;
}

static bool is_section(const char* line, const char* name)
{
    return line[0] == '$' && strncmp(line + 1, name, strlen(name)) == 0;
}

/// The line below $bdyty: dimension (0 for bodies that are not rigid) and number.
static talus_status read_name(import_file* f, int* dim, int64_t* number)
{
    const int found = next_line(f);
    if (found < 0) return (talus_status)found;
    if (found == 0) return import_error(f, "the file ends below $bdyty");
    char* rest = f->line;
    const char* kind = import_word(&rest, ' ');
    const char* word = import_word(&rest, ' ');
    *dim = !kind ? 0 : strcmp(kind, "RBDY2") == 0 ? 2 : strcmp(kind, "RBDY3") == 0 ? 3 : 0;
    if (word && import_integer(word, number)) return TALUS_OK;
    return import_error(f, "expected the kind and number of a body, as in ' RBDY2      1'");
}

// ---- BODIES.DAT --------------------------------------------------------------------------------

/// " DISKx      1  color  BLUEx  byrd= ...": a new contactor.
static talus_status add_contactor(import_file* f, lmgc90_body* b)
{
    if (b->contactor_count == MOST_CONTACTORS) {
        return import_error(f, "a body with more than %d contactors", MOST_CONTACTORS);
    }
    if (!arrays_grow(&b->contactor_capacity, b->contactor_count + 1, ARRAY(b->contactor))) {
        return error_memory(f->error, "contactors");
    }
    lmgc90_contactor* c = &b->contactor[b->contactor_count++];
    *c = (lmgc90_contactor){.line = f->number, .frame = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    lmgc90_value(f->line, "byrd", &c->radius);
    lmgc90_value(f->line, "High", &c->height);
    lmgc90_value(f->line, "axe1", &c->axes[0]);
    lmgc90_value(f->line, "axe2", &c->axes[1]);
    lmgc90_value(f->line, "axe3", &c->axes[2]);
    char* rest = f->line;
    lmgc90_copy(c->kind, import_word(&rest, ' '));
    for (char* word; (word = import_word(&rest, ' '));) {
        if (strcmp(word, "color") == 0) lmgc90_copy(c->colour, import_word(&rest, ' '));
    }
    return TALUS_OK;
}

/// A further line of a contactor: a corner, the shift, or the axes of its frame.
static talus_status continue_contactor(import_file* f, lmgc90_contactor* c)
{
    double x[3] = {0};
    const bool point = lmgc90_value(f->line, "coo1", &x[0]) && lmgc90_value(f->line, "coo2", &x[1]);
    lmgc90_value(f->line, "coo3", &x[2]);
    const bool corners = strcmp(c->kind, "POLYG") == 0 || strcmp(c->kind, "POLYR") == 0;
    if (point && corners) {
        if (!arrays_grow(&c->point_capacity, c->point_count + 1, ROWS(c->point, 3))) {
            return error_memory(f->error, "corners");
        }
        vec_copy(3, c->point + 3 * c->point_count++, x);
        return TALUS_OK;
    }
    if (point) vec_copy(3, c->shift, x);
    static const char* const axis[3] = {"alp", "bet", "gam"};
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < 3; k++) {
            const char key[5] = {axis[a][0], axis[a][1], axis[a][2], (char)('1' + k), '\0'};
            lmgc90_value(f->line, key, &c->frame[3 * k + a]);
        }
    }
    return TALUS_OK;
}

/// Lines of a body in one of its sections.
static talus_status read_body_line(import_file* f, const char* section, lmgc90_body* b)
{
    const char* behaviour = strstr(f->line, "behav");
    if (strcmp(section, "blmty") == 0 && behaviour) {
        const char* word = behaviour + 5 + strspn(behaviour + 5, " \t");
        snprintf(b->behaviour, sizeof b->behaviour, "%.*s", (int)strcspn(word, " \t"), word);
    }
    if (strcmp(section, "nodty") == 0) {
        lmgc90_value(f->line, "coo1", &b->place[0]);
        lmgc90_value(f->line, "coo2", &b->place[1]);
        lmgc90_value(f->line, "coo3", &b->place[2]);
    }
    if (strcmp(section, "tacty") != 0) return TALUS_OK;
    if (strstr(f->line, "color")) return add_contactor(f, b); // its first line has it
    if (b->contactor_count == 0) return import_error(f, "expected a contactor");
    return continue_contactor(f, &b->contactor[b->contactor_count - 1]);
}

static talus_status read_body(import_file* f, lmgc90_files* all)
{
    char section[LMGC90_WORD] = "";
    if (!arrays_grow(&all->body_capacity, all->body_count + 1, ARRAY(all->body))) {
        return error_memory(f->error, "bodies");
    }
    lmgc90_body* b = &all->body[all->body_count++];
    *b = (lmgc90_body){.line = f->number, .frame = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    TRY(read_name(f, &b->dim, &b->number));
    int found;
    while ((found = next_line(f)) > 0) {
        if (is_section(f->line, "$$$$$")) return TALUS_OK;
        if (is_section(f->line, "bdyty")) {
            f->again = true;
            return TALUS_OK;
        }
        if (f->line[0] == '$') {
            snprintf(section, sizeof section, "%.5s", f->line + 1);
        } else if (b->dim != 0) {
            TRY(read_body_line(f, section, b));
        }
    }
    return found < 0 ? (talus_status)found : TALUS_OK;
}

talus_status lmgc90_read_bodies(import_file* f, lmgc90_files* all)
{
    int found;
    while ((found = next_line(f)) > 0) {
        if (is_section(f->line, "bdyty")) TRY(read_body(f, all));
    }
    if (found < 0) return (talus_status)found;
    return all->body_count > 0 ? TALUS_OK : import_error(f, "there is no $bdyty in the file");
}

// ---- DOF.INI and DRV_DOF.DAT -------------------------------------------------------------------

/// The body that the section $bdyty at the present line is about; NULL for one that is not rigid.
/// Numbers count from 1 for each kind.
static talus_status named_body(import_file* f, const lmgc90_files* all, lmgc90_body** out)
{
    int dim;
    int64_t number;
    TRY(read_name(f, &dim, &number));
    *out = NULL;
    if (dim == 0) return TALUS_OK;
    // Most often all bodies are of one kind.
    if (number >= 1 && number <= all->body_count) {
        lmgc90_body* guess = &all->body[number - 1];
        if (guess->dim == dim && guess->number == number) *out = guess;
    }
    for (int64_t i = 0; !*out && i < all->body_count; i++) {
        if (all->body[i].dim == dim && all->body[i].number == number) *out = &all->body[i];
    }
    if (*out) return TALUS_OK;
    return import_error(f, "body %lld is not in BODIES.DAT", (long long)number);
}

static void read_motion(const char* line, lmgc90_body* b)
{
    double v;
    for (int k = 0; k < 3; k++) {
        char key[5] = {'X', '(', (char)('1' + k), ')', '\0'};
        if (lmgc90_value(line, key, &v) && (b->dim == 3 || k < 2)) b->place[k] += v;
        if (b->dim == 2 && k == 2 && lmgc90_value(line, key, &v)) b->angle += v;
        key[0] = 'V';
        if (lmgc90_value(line, key, &v) && (b->dim == 3 || k < 2)) b->velocity[k] = v;
        if (b->dim == 2 && k == 2 && lmgc90_value(line, key, &v)) b->spin[2] = v;
        key[2] = (char)('4' + k);
        if (b->dim == 3 && lmgc90_value(line, key, &v)) b->spin[k] = v;
        key[2] = (char)('1' + k);
        static const char axis[3] = {'a', 'b', 'g'};
        for (int a = 0; b->dim == 3 && a < 3; a++) {
            key[0] = axis[a];
            lmgc90_value(line, key, &b->frame[3 * k + a]);
        }
    }
}

static talus_status check_frame(const import_file* f, const lmgc90_body* b)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = i == j ? -1.0 : 0.0;
            for (int k = 0; k < 3; k++) sum += b->frame[3 * k + i] * b->frame[3 * k + j];
            // Seven digits are written.
            if (!(fabs(sum) < 1e-5)) {
                return import_error(f, "the axes of body %lld are not those of a rotation",
                                    (long long)b->number);
            }
        }
    }
    return TALUS_OK;
}

talus_status lmgc90_read_dof(import_file* f, lmgc90_files* all)
{
    int found;
    lmgc90_body* b = NULL;
    while ((found = next_line(f)) > 0) {
        if (is_section(f->line, "bdyty")) {
            if (b) TRY(check_frame(f, b));
            TRY(named_body(f, all, &b));
        } else if (b && f->line[0] != '$') {
            read_motion(f->line, b);
        }
    }
    if (found == 0 && b) TRY(check_frame(f, b));
    return found < 0 ? (talus_status)found : TALUS_OK;
}

/// " vlocy      1  0.0000000E+00  ..." drives an axis; all translations held make a body fixed.
talus_status lmgc90_read_driven(import_file* f, lmgc90_files* all)
{
    int found, held = 0;
    lmgc90_body* b = NULL;
    while ((found = next_line(f)) > 0) {
        if (is_section(f->line, "bdyty")) {
            TRY(named_body(f, all, &b));
            held = 0;
        }
        char* rest = f->line;
        const char* kind = import_word(&rest, ' ');
        if (!b || !kind || strcmp(kind, "vlocy") != 0) continue;
        int64_t axis = 0;
        double constant = 1.0, amplitude = 1.0;
        const char* words[3];
        for (int i = 0; i < 3; i++) words[i] = import_word(&rest, ' ');
        if (!words[0] || !import_integer(words[0], &axis)) {
            return import_error(f, "expected the number of an axis below $dofty");
        }
        b->driven = true;
        const bool still = words[1] && import_number(words[1], &constant) && constant == 0.0 &&
                           words[2] && import_number(words[2], &amplitude) && amplitude == 0.0;
        if (still && axis >= 1 && axis <= b->dim) held++;
        b->fixed = held == b->dim;
    }
    return found < 0 ? (talus_status)found : TALUS_OK;
}

// ---- BULK_BEHAV.DAT and TACT_BEHAV.DAT ---------------------------------------------------------

talus_status lmgc90_read_bulk(import_file* f, lmgc90_files* all, import_model* m)
{
    int found;
    bool names = false;
    while ((found = next_line(f)) > 0) {
        double density;
        for (int k = 0; k < 3; k++) {
            const char key[5] = {'g', 'r', 'v', (char)('1' + k), '\0'};
            if (lmgc90_value(f->line, key, &m->gravity[k])) m->has_gravity = true;
        }
        const bool given = lmgc90_value(f->line, "Umas", &density) && density > 0.0;
        if (f->line[0] == '$') {
            names = is_section(f->line, "behav");
            continue;
        }
        char* rest = f->line;
        const char* word = import_word(&rest, ' ');
        if (names && word && !strchr(word, '=')) {
            if (!arrays_grow(&all->density_capacity, all->density_count + 1, ARRAY(all->density)))
                return error_memory(f->error, "densities");
            all->density[all->density_count].density = 0.0;
            lmgc90_copy(all->density[all->density_count++].name, word);
            names = false;
        }
        if (given && all->density_count > 0) all->density[all->density_count - 1].density = density;
    }
    return found < 0 ? (talus_status)found : TALUS_OK;
}

/// " RBDY2  DISKx  BLUEx  iqsc0  RBDY2  JONCx  WALLx".
static talus_status add_sight(import_file* f, lmgc90_files* all)
{
    const char* word[7] = {NULL};
    char* rest = f->line;
    for (int i = 0; i < 7; i++) word[i] = import_word(&rest, ' ');
    if (!word[6] || strncmp(word[0], "RBDY", 4) != 0) return TALUS_OK; // titles and distances
    if (!arrays_grow(&all->sight_capacity, all->sight_count + 1, ARRAY(all->sight))) {
        return error_memory(f->error, "the see-table");
    }
    lmgc90_sight* s = &all->sight[all->sight_count++];
    lmgc90_copy(s->colour[0], word[2]);
    lmgc90_copy(s->law, word[3]);
    lmgc90_copy(s->colour[1], word[6]);
    return TALUS_OK;
}

talus_status lmgc90_read_laws(import_file* f, lmgc90_files* all)
{
    int found;
    char section[LMGC90_WORD] = "";
    while ((found = next_line(f)) > 0) {
        if (f->line[0] == '$') {
            snprintf(section, sizeof section, "%.5s", f->line + 1);
            continue;
        }
        if (strcmp(section, "behav") == 0) {
            const bool deep = strspn(f->line, " \t") > 6; // goes on with the law above
            if (deep && all->law_count == 0) continue;
            if (!deep) {
                if (!arrays_grow(&all->law_capacity, all->law_count + 1, ARRAY(all->law)))
                    return error_memory(f->error, "laws");
                all->law[all->law_count++] = (lmgc90_law){
                    .friction = -1.0, .restitution = -1.0, .tangential_restitution = -1.0};
            }
            lmgc90_law* law = &all->law[all->law_count - 1];
            lmgc90_value(f->line, "fric", &law->friction);
            lmgc90_value(f->line, "rstn", &law->restitution);
            lmgc90_value(f->line, "rstt", &law->tangential_restitution);
            char* rest = f->line;
            if (!deep) lmgc90_copy(law->name, import_word(&rest, ' '));
        }
        if (strcmp(section, "seety") == 0) TRY(add_sight(f, all));
    }
    return found < 0 ? (talus_status)found : TALUS_OK;
}

void lmgc90_free(lmgc90_files* all)
{
    for (int64_t i = 0; i < all->body_count; i++) {
        for (int c = 0; c < all->body[i].contactor_count; c++)
            free(all->body[i].contactor[c].point);
        free(all->body[i].contactor);
    }
    free(all->body);
    free(all->density);
    free(all->law);
    free(all->sight);
    *all = (lmgc90_files){0};
}
