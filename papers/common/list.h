/// All experiments, in the order of `talus paper`.
#ifndef TALUS_PAPER_LIST_H
#define TALUS_PAPER_LIST_H

#include "paper.h"

/// The experiments; the last pointer is NULL.
const paper_experiment* const* paper_list(void);

#endif
