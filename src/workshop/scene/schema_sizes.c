/// Grain sizes: `radius` or `diameter`, a number or a distribution.
#include "scene/model.h"

static void read_distribution(section* s, sizes_def* def)
{
    int kind = read_choice(s, "distribution");
    if (kind < 0) return;
    def->kind = (sizes_kind)kind;
    if (kind != SIZES_SINGLE) def->by_mass = read_choice(s, "by") == 1;
    int rows;
    switch (def->kind) {
    case SIZES_SINGLE: def->value = read_real(s, "value"); break;
    case SIZES_POWER:
        def->exponent = read_real(s, "exponent");
        // fall through
    case SIZES_UNIFORM:
        def->min = read_real(s, "min");
        def->max = read_real(s, "max");
        break;
    case SIZES_NORMAL:
        def->mean = read_real(s, "mean");
        def->deviation = read_real(s, "deviation");
        break;
    case SIZES_LOGNORMAL:
        if (section_has(s, "mean") == section_has(s, "median")) {
            section_mistake(s, NULL, "needs its middle once (expected either median or mean)");
        }
        read_real_optional(s, "median", &def->median);
        read_real_optional(s, "mean", &def->mean);
        def->sigma = read_real(s, "sigma");
        break;
    case SIZES_TABLE:
    case SIZES_TABLE_LINEAR:
        def->table = read_rows(s, "table", &rows, NULL);
        def->table_count = rows;
        if (!section_has(s, "table")) {
            section_mistake(s, NULL, "table: is missing (expected a list of [size, weight])");
        }
        break;
    }
    if (kind == SIZES_NORMAL || kind == SIZES_LOGNORMAL) {
        read_real_optional(s, "min", &def->min);
        read_real_optional(s, "max", &def->max);
    }
    section_close(s);
}

double schema_sizes(section* s, int dim, sizes_def* def)
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
