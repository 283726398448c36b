/// Plain numbers in texts, whatever locale the host program has set.
#include "base/plain.h"

plain_numbers plain_numbers_begin(void)
{
    plain_numbers n = {newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), (locale_t)0};
    if (n.plain) n.before = uselocale(n.plain);
    return n;
}

void plain_numbers_end(plain_numbers n)
{
    if (!n.plain) return;
    uselocale(n.before);
    freelocale(n.plain);
}
