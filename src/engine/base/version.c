/// What this library is: its version, the revision it was built from and the compiler.
///
/// The three texts come from talus_version.h, which cmake/Revision.cmake writes into the build
/// folder at every build, so that a result can always be traced to the code that made it.
#include "talus_version.h"

#include <talus/base.h>

const char* talus_version(void)
{
    return TALUS_BUILT_VERSION;
}

const char* talus_revision(void)
{
    return TALUS_REVISION;
}

const char* talus_compiler(void)
{
    return TALUS_COMPILER;
}
