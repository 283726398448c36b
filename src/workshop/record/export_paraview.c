/// The script beside the files of a run or an export that shows them in ParaView:
/// show-in-paraview.py as it is in the source, kept inside the library, and a line that calls it
/// for the folder.
#include "base/error.h"
#include "base/json.h"
#include "record/export.h"
#include "record/files.h"

#include <stdio.h>
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
    char* place = realpath(folder, NULL);
    char* text = NULL;
    size_t size = 0;
    FILE* script = path && place ? open_memstream(&text, &size) : NULL;
    talus_status status = TALUS_OK;
    if (script) {
        fwrite(paraview_script_begin, 1, (size_t)(paraview_script_end - paraview_script_begin),
               script);
        fputs("\n\nmain(", script);
        json_quote(script, place); // a string of Python, too
        fputs(")\n", script);
    }
    if (!script || fclose(script) != 0) {
        status = error_memory(error, "the script for ParaView");
    } else {
        status = files_replace(path, text, size, false, error);
    }
    free(text);
    free(place);
    free(path);
    return status;
}
