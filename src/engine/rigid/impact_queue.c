/// Impacts to come: a heap with the earliest on top.
#include "base/array.h"
#include "base/error.h"
#include "rigid/impact_parts.h"

static bool is_sooner(const impact_due* x, const impact_due* y)
{
    return x->time < y->time || (x->time == y->time && x->contact < y->contact);
}

talus_status impacts_add_due(impacts* im, double time, int32_t contact, int32_t withdrawn)
{
    if (isinf(time)) return TALUS_OK;
    if (!arrays_grow(&im->due_capacity, im->due_count + 1, ARRAY(im->due))) return TALUS_ERR_MEMORY;
    const impact_due due = {time, contact, im->stamp[contact], withdrawn};
    int64_t at = im->due_count++;
    for (; at > 0 && is_sooner(&due, &im->due[(at - 1) / 2]); at = (at - 1) / 2) {
        im->due[at] = im->due[(at - 1) / 2];
    }
    im->due[at] = due;
    return TALUS_OK;
}

void impacts_drop_first(impacts* im)
{
    const impact_due last = im->due[--im->due_count];
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= im->due_count) break;
        if (child + 1 < im->due_count && is_sooner(&im->due[child + 1], &im->due[child])) child++;
        if (!is_sooner(&im->due[child], &last)) break;
        im->due[at] = im->due[child];
        at = child;
    }
    im->due[at] = last;
}

const impact_due* impacts_first_due(impacts* im)
{
    while (im->due_count > 0 && im->due[0].stamp != im->stamp[im->due[0].contact])
        impacts_drop_first(im);
    return im->due_count > 0 ? im->due : NULL;
}
