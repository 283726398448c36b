/// Grain sizes: `radius` or `diameter`, a number or a distribution.
#include "scene/model.h"

static void read_distribution(section* s, sizes_def* def)
{
    int kind = read_choice(s, "distribution");
    if (kind < 0) return;
    def->kind = (sizes_kind)kind;
    if (kind == SIZES_LOGNORMAL && section_has(s, "mean") == section_has(s, "median")) {
        section_mistake(s, NULL, "needs its middle once (expected either median or mean)");
    }
    section_fill(s, sizes_def, def);
    if (kind == SIZES_TABLE || kind == SIZES_TABLE_LINEAR) {
        int rows;
        def->table = read_rows(s, "table", &rows, NULL);
        def->table_count = rows;
        if (!section_has(s, "table")) {
            section_mistake(s, NULL, "table: is missing (expected a list of [size, weight])");
        }
    }
    section_close(s);
}

double read_sizes(section* s, int dim, sizes_def* def)
{
    *def = sizes_default();
    bool radius = section_has(s, "radius"), diameter = section_has(s, "diameter");
    if (radius == diameter) {
        section_mistake(s, radius ? "diameter" : NULL, "%s (expected either radius or diameter)",
                        radius ? "the size is given twice" : "the grains have no size");
        return 0.0;
    }
    const char* key = radius ? "radius" : "diameter";
    def->diameter = diameter;
    int before = s->r->p->count;
    if (section_has_kind(s, key, NODE_MAP)) {
        section distribution;
        section_open(&distribution, s, key);
        read_distribution(&distribution, def);
    } else {
        def->kind = SIZES_SINGLE;
        def->value = read_real_required(s, key);
    }
    if (s->r->p->count > before) return 0.0;
    sizes* ready;
    talus_error error;
    if (sizes_create(def, dim, &ready, &error) < 0) {
        section_mistake(s, key, "%s", error.text);
        return 0.0;
    }
    double largest = sizes_largest(ready);
    sizes_destroy(ready);
    return largest;
}
