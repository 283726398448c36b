/// Whether the grains of a scene fit into the memory of the machine, asked before any is made.
///
/// Needed are n b bytes, with b what a grain takes together with its contacts (docs/benchmarks.md,
/// Memory). How many grains a source makes is n as given, or estimated: sites of a box by its
/// spacing, a solid fraction by the mean volume of sizes drawn.
#include "base/error.h"
#include "base/memory.h"
#include "scene/generate_region.h"
#include "scene/model.h"

#include <math.h>
#include <stdio.h>

/// Bytes of a disk and of a sphere.
#define BYTES_2D 1.1e3
#define BYTES_3D 2.0e3

/// Sizes drawn for a mean.
enum { DRAWS = 1000 };

static double lattice_count(const scene_source* source, int dim)
{
    const lattice_def* def = &source->lattice;
    const double usual = def->factor * 2.0 * source->largest_radius;
    double count = 1.0;
    for (int k = 0; k < dim; k++) {
        double step = def->spacing > 0.0 ? def->spacing : usual;
        if (def->by_axis) step = def->steps[k];
        const double sites = step > 0.0 ? (def->high[k] - def->low[k]) / step : 1.0;
        count *= def->by_count ? (double)def->counts[k] : fmax(sites, 1.0);
    }
    return count;
}

static talus_status fill_count(const fill_def* def, int dim, double* count, talus_error* error)
{
    *count = (double)def->count;
    if (def->count > 0) return TALUS_OK;
    sizes* drawn = NULL;
    TRY(sizes_create(&def->sizes, dim, &drawn, error));
    rng r = rng_make(1, 0, 0);
    double volume = 0.0;
    for (int i = 0; i < DRAWS; i++) volume += generate_ball_volume(dim, sizes_draw(drawn, &r));
    sizes_destroy(drawn);
    const double mean = def->volume_share * volume / DRAWS;
    *count = mean > 0.0 ? def->solid_fraction * region_volume(&def->region, dim) / mean : 0.0;
    return TALUS_OK;
}

/// Grains that a source will make; none of those that are poured later or stand in a file already.
static talus_status count_of(const scene_source* source, int dim, double* count, talus_error* error)
{
    *count = 0.0;
    switch (source->kind) {
    case SOURCE_LATTICE: *count = lattice_count(source, dim); break;
    case SOURCE_FILL: return fill_count(&source->fill, dim, count, error);
    case SOURCE_CHAIN: *count = (double)source->chain.count; break;
    case SOURCE_VORONOI: *count = (double)source->voronoi.count; break;
    case SOURCE_ARCH: *count = (double)source->arch.blocks; break;
    case SOURCE_MASONRY:
        *count = (double)source->masonry.bricks * (double)source->masonry.courses;
        break;
    case SOURCE_LIST:
    case SOURCE_CSV:
    case SOURCE_INLET:
    case SOURCE_COUNT: break;
    }
    return TALUS_OK;
}

/// "1.1 kB", "24 TB"
static void write_bytes(double bytes, char* out, size_t size)
{
    static const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    int unit = 0;
    for (; bytes >= 999.5 && unit < 6; unit++) bytes /= 1000.0;
    snprintf(out, size, "%.*f %s", bytes < 9.95 ? 1 : 0, bytes, units[unit]);
}

talus_status scene_check_memory(const talus_scene* scene, mistakes* found, talus_error* error)
{
    const double limit = memory_limit();
    const double each = scene->world.dim == 2 ? BYTES_2D : BYTES_3D;
    double before = 0.0;
    for (int i = 0; i < scene->source_count; i++) {
        const scene_source* source = &scene->sources[i];
        double count;
        TRY(count_of(source, scene->world.dim, &count, error));
        if ((before + count) * each <= limit) {
            before += count;
            continue;
        }
        char needed[32], there[32], one[32];
        write_bytes((before + count) * each, needed, sizeof needed);
        write_bytes(limit, there, sizeof there);
        write_bytes(each, one, sizeof one);
        mistakes_add(found, source->counted.at, source->counted.path,
                     "%.10g grains%s do not fit into memory: they need about %s, %s each "
                     "(expected at most %.3g, for %s)",
                     count, before > 0.0 ? " and those of the sources before" : "", needed, one,
                     floor(limit / each - before), there);
    }
    return TALUS_OK;
}
