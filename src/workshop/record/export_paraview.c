/// The script beside the files of a run or an export that shows them in ParaView
/// (show-in-paraview.py), as it is in the source, inside the library.
#include "base/error.h"
#include "record/export.h"
#include "record/files.h"

#include <stdlib.h>

#define SCRIPT_NAME "show-in-paraview.py"

extern const char paraview_script_begin[], paraview_script_end[];

__asm__(".pushsection .rodata\n"
        ".global paraview_script_begin\n"
        ".hidden paraview_script_begin\n"
        ".global paraview_script_end\n"
        ".hidden paraview_script_end\n"
        "paraview_script_begin:\n"
        ".incbin \"" TALUS_PARAVIEW_SCRIPT "\"\n"
        "paraview_script_end:\n"
        ".byte 0\n"
        ".popsection\n");

talus_status export_paraview_script(const char* folder, talus_error* error)
{
    char* path = files_text("%s/" SCRIPT_NAME, folder);
    if (!path) return error_memory(error, "a file name");
    const size_t size = (size_t)(paraview_script_end - paraview_script_begin);
    talus_status status = files_replace(path, paraview_script_begin, size, false, error);
    free(path);
    return status;
}
