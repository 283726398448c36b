/// The modules that cmake/Card.cmake compiled, inside the library.
#include "card/modules.h"

#include <stddef.h>
#include <string.h>

typedef struct module_row {
    const char *name, *text;
} module_row;

#ifdef TALUS_CARD_MODULES

// The driver gets a comment with the module's name before the text, for what it reports.
#define MODULE(name, path)                                                                         \
    extern const char card_module_##name[];                                                        \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global card_module_" #name "\n"                                                      \
            ".hidden card_module_" #name "\n"                                                      \
            "card_module_" #name ":\n"                                                             \
            ".ascii \"// module " #name "\\n\"\n"                                                  \
            ".incbin \"" path "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n");
#include TALUS_CARD_MODULES
#undef MODULE

#define MODULE(name, path) {#name, card_module_##name},
static const module_row MODULES[] = {
#include TALUS_CARD_MODULES
    {NULL, NULL}};

#else

static const module_row MODULES[] = {{NULL, NULL}};

#endif

const char* module_text(const char* name)
{
    for (const module_row* row = MODULES; row->name; row++) {
        if (strcmp(row->name, name) == 0) return row->text;
    }
    return NULL;
}

int module_count(void)
{
    return (int)(sizeof MODULES / sizeof *MODULES) - 1;
}
