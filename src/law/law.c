/// The list of contact laws.
#include "law/law.h"

static const contact_law* const laws[LAW_COUNT] = {
    [LAW_COULOMB] = &coulomb_law,
};

const contact_law* law_at(int index)
{
    return laws[index];
}

int law_of_pair(const talus_pair_def* pair)
{
    (void)pair; // friction alone: every pair follows Coulomb
    return LAW_COULOMB;
}
