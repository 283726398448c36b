/// Files of other programs, made into scenes. The first letter says of which; a folder of LMGC90 is
/// one text, with a line "=== NAME" before each of its files.
#include "fuzz.h"

#include <talus/exchange.h>

/// Files of one text, in the folder; returns how many.
static int unpack(const char* folder, const char* text)
{
    int count = 0;
    for (const char* at = strstr(text, "=== "); at && count < 8; count++) {
        char name[32], path[160];
        const char* line = strchr(at, '\n');
        if (!line) break;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 4, "\n/"), at + 4);
        const char* next = strstr(line + 1, "\n=== ");
        snprintf(path, sizeof path, "%s/%s", folder, name);
        FILE* file = name[0] && name[0] != '.' ? fopen(path, "w") : NULL;
        if (file) {
            fwrite(line + 1, 1, next ? (size_t)(next + 1 - line - 1) : strlen(line + 1), file);
            fclose(file);
        }
        at = next ? next + 1 : NULL;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const struct {
        talus_import_format format;
        const char* name;
    } kinds[] = {{TALUS_IMPORT_LAMMPS_DUMP, "a.dump"},
                 {TALUS_IMPORT_LAMMPS_DATA, "a.data"},
                 {TALUS_IMPORT_CSV, "a.csv"},
                 {TALUS_IMPORT_AUTO, "a.txt"},
                 {TALUS_IMPORT_LMGC90, NULL}};
    if (size < 1) return 0;
    const size_t kind = data[0] % (sizeof kinds / sizeof *kinds);
    char folder[128], out[160], csv[160], path[160];
    snprintf(folder, sizeof folder, "%s/lmgc90", fuzz_folder());
    snprintf(out, sizeof out, "%s/out.yaml", fuzz_folder());
    snprintf(csv, sizeof csv, "%s/out.csv", fuzz_folder());
    talus_import_def def = talus_import_default();
    def.out = out;
    def.radius = data[0] & 64 ? 0.01 : 0.0;
    def.format = kinds[kind].format;
    if (kinds[kind].name) {
        def.path = fuzz_file(kinds[kind].name, NULL, 0, data + 1, size - 1);
    } else {
        char* text = strndup((const char*)data + 1, size - 1);
        FUZZ_PROMISE(text);
        mkdir(folder, 0700);
        unpack(folder, text);
        free(text);
        def.path = folder;
    }
    talus_error error = {0};
    talus_import_result result = {0};
    fuzz_check(talus_import(&def, &result, &error), &error);
    talus_import_free(&result);
    unlink(out);
    unlink(csv);
    if (!kinds[kind].name) {
        static const char* const files[] = {"BODIES.DAT",     "DOF.INI",     "BULK_BEHAV.DAT",
                                            "TACT_BEHAV.DAT", "DRV_DOF.DAT", "MODELS.DAT"};
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, files[i]);
            unlink(path);
        }
    }
    return 0;
}
