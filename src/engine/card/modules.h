/// The kernels that were built into the program, as PTX.
#ifndef TALUS_CARD_MODULES_H
#define TALUS_CARD_MODULES_H

/// Text of a module; NULL if there is none of that name.
const char* module_text(const char* name);
/// How many there are: none if the build had no compiler for them.
int module_count(void);

#endif
