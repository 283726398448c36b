/// Runs a fuzz target without libFuzzer: NAME SECONDS SEED FOLDER... goes through all files of the
/// folders, then changes them at random for so long. An input that breaks something is left in
/// broken-NAME. Changes: bits, bytes, pieces taken out, doubled, and taken from other files.
#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <time.h>

enum { MOST_FILES = 4096, MOST_BYTES = 1 << 20 };

typedef struct input {
    uint8_t* data;
    size_t size;
} input;

static input corpus[MOST_FILES];
static int corpus_count;
static input present; ///< for whoever dies
static const char* target;

/// splitmix64
static uint64_t state;
static uint64_t draw(uint64_t below)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return below > 0 ? (z ^ (z >> 31)) % below : 0;
}

static void keep_present(int signal_number)
{
    char name[128];
    snprintf(name, sizeof name, "broken-%s", target);
    FILE* file = fopen(name, "w");
    if (file) {
        fwrite(present.data, 1, present.size, file);
        fclose(file);
        fprintf(stderr, "the input that broke it is in %s\n", name);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void run(input one)
{
    present = one;
    LLVMFuzzerTestOneInput(one.data, one.size);
}

static void load(const char* folder)
{
    DIR* list = opendir(folder);
    if (!list) return;
    for (const struct dirent* item; (item = readdir(list)) && corpus_count < MOST_FILES;) {
        char path[4096];
        struct stat facts;
        snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
        input one = {malloc((size_t)facts.st_size + 1), (size_t)facts.st_size};
        FILE* file = fopen(path, "r");
        if (one.data && file && fread(one.data, 1, one.size, file) == one.size)
            corpus[corpus_count++] = one;
        if (file) fclose(file);
    }
    closedir(list);
}

/// One change in place; `room` is what fits.
static void change(input* one, size_t room)
{
    const size_t at = draw(one->size + 1), length = 1 + draw(draw(2) ? 4 : 64);
    const input other = corpus[draw((uint64_t)corpus_count)];
    switch (draw(6)) {
    case 0:
        if (at < one->size) one->data[at] ^= (uint8_t)(1u << draw(8));
        break;
    case 1:
        for (size_t i = at; i < one->size && i < at + length; i++)
            one->data[i] = (uint8_t)draw(256);
        break;
    case 2: // out
        if (at + length > one->size) break;
        memmove(one->data + at, one->data + at + length, one->size - at - length);
        one->size -= length;
        break;
    case 3: // doubled
        if (at + length > one->size || one->size + length > room) break;
        memmove(one->data + at + length, one->data + at, one->size - at);
        one->size += length;
        break;
    case 4: // from elsewhere
        for (size_t i = 0, from = draw(other.size); i < length; i++) {
            if (at + i < one->size && from + i < other.size)
                one->data[at + i] = other.data[from + i];
        }
        break;
    default: // cut off, seldom
        if (draw(20) == 0) one->size = at;
        break;
    }
}

int main(int argc, char** argv)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    if (argc < 4) {
        fprintf(stderr, "%s SECONDS SEED FOLDER...\n", argv[0]);
        return 2;
    }
    target = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], keep_present);
    state = strtoull(argv[2], NULL, 10);
    for (int i = 3; i < argc; i++) load(argv[i]);
    if (corpus_count == 0) {
        fprintf(stderr, "%s: no corpus\n", target);
        return 1;
    }
    for (int i = 0; i < corpus_count; i++) run(corpus[i]);
    long count = 0;
    uint8_t* room = malloc(MOST_BYTES);
    const time_t end = time(NULL) + strtol(argv[1], NULL, 10);
    while (room && time(NULL) < end) {
        const input from = corpus[draw((uint64_t)corpus_count)];
        input one = {room, from.size < MOST_BYTES ? from.size : MOST_BYTES};
        memcpy(room, from.data, one.size);
        for (uint64_t changes = 1 + draw(draw(2) ? 3 : 20); changes > 0; changes--)
            change(&one, MOST_BYTES);
        run(one);
        count++;
    }
    printf("%s: %d inputs of the corpus, %ld changed\n", target, corpus_count, count);
    free(room);
    for (int i = 0; i < corpus_count; i++) free(corpus[i].data);
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", fuzz_folder());
    return system(command) == 0 ? 0 : 1;
}
