/// Signorini and Coulomb as an entry in the list of laws; the formulas are in coulomb.h.
#include "law/coulomb.h"

#include "law/law.h"

static law_constants prepare(const law_input* in)
{
    double gap = in->push_out_overlap || in->gap > 0.0 ? in->gap : 0.0;
    return (law_constants){.bias = gap / in->h, .mu = in->pair->friction};
}

static void map(int dim, const double* n, double mn, double mt, law_constants k, const double* u,
                const double* p, double* out)
{
    coulomb_map(dim, n, mn, mt, k.bias, k.mu, u, p, out);
}

static bool block(int dim, const double* S, const double* n, law_constants k, const double* free,
                  double* p)
{
    return coulomb_block(dim, S, n, k.bias, k.mu, free, p);
}

const contact_law coulomb_law = {.name = "coulomb", .prepare = prepare, .map = map, .block = block};
