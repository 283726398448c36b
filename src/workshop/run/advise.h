/// Inside of the advice: what its words are made from.
#ifndef TALUS_RUN_ADVISE_H
#define TALUS_RUN_ADVISE_H

#include <talus/advise.h>

static inline talus_method other_method(talus_method method)
{
    return method == TALUS_METHOD_SOFT ? TALUS_METHOD_CONTACT : TALUS_METHOD_SOFT;
}

/// Put the advice with its reasons into advice->words, from all its other numbers.
void advise_words(talus_advice* advice);

#endif
