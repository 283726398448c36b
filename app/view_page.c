/// talus view: the page, as the build bundled it, inside the program.
#include "view.h"

#ifdef TALUS_VIEWER_PAGE

extern const char view_page_begin[], view_page_end[];

__asm__(".pushsection .rodata\n"
        ".global view_page_begin\n"
        ".global view_page_end\n"
        "view_page_begin:\n"
        ".incbin \"" TALUS_VIEWER_PAGE "\"\n"
        "view_page_end:\n"
        ".byte 0\n"
        ".popsection\n");

const char* view_page(size_t* size)
{
    *size = (size_t)(view_page_end - view_page_begin);
    return view_page_begin;
}

#else

const char* view_page(size_t* size)
{
    *size = 0;
    return NULL;
}

#endif
