/// Sums over contacts, by classes of their force.
#include "network.h"

#include <math.h>

double network_normal_force(const talus_contacts* c, int64_t contact)
{
    return c->force[2 * contact] * c->normal[2 * contact] +
           c->force[2 * contact + 1] * c->normal[2 * contact + 1];
}

double network_mean_force(const talus_contacts* c)
{
    double mean = 0;
    // Open contacts are known by the mean, and the mean without them: a few looks suffice.
    for (int look = 0; look < 5; look++) {
        double sum = 0, count = 0;
        for (int64_t i = 0; i < c->count; i++) {
            const double n = network_normal_force(c, i);
            if (c->a[i] < 0 || n <= NETWORK_LEAST * mean) continue;
            sum += n;
            count++;
        }
        mean = count > 0 ? sum / count : 0;
    }
    return mean;
}

static void take_contact(network* w, const talus_contacts* c, int64_t i, double f, double length)
{
    const double *n = c->normal + 2 * i, *force = c->force + 2 * i;
    network_sum* s =
        &w->cut[f < NETWORK_CUTS * NETWORK_WIDTH ? (int)(f / NETWORK_WIDTH) : NETWORK_CUTS];
    s->count++;
    s->sliding += c->state[i] == TALUS_CONTACT_SLIDE;
    s->force += f;
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            s->stress[a][b] += force[a] * length * n[b];
            s->fabric[a][b] += n[a] * n[b];
        }
    }
    const double place = 1 - log(f) / log(NETWORK_LEAST); // 0 at the least, 1 at f = 1
    if (f < 1) w->small[(int)fmin(fmax(place, 0) * NETWORK_SMALL, NETWORK_SMALL - 1)]++;
    const double turn = atan2(n[1], n[0]) / M_PI;
    w->angle[f >= 1][(int)((turn < 0 ? turn + 1 : turn) * NETWORK_ANGLES) % NETWORK_ANGLES]++;
}

void network_take(network* w, const talus_world* world)
{
    const talus_contacts c = talus_world_contacts(world);
    const double* radius = talus_world_grains(world).radius;
    const double mean = network_mean_force(&c);
    for (int64_t i = 0; i < c.count; i++) {
        const double n = network_normal_force(&c, i);
        if (c.a[i] < 0 || n <= NETWORK_LEAST * mean) continue;
        take_contact(w, &c, i, n / mean,
                     radius[talus_world_grain_index(world, c.a[i])] +
                         radius[talus_world_grain_index(world, c.b[i])]);
    }
}

static void add_sum(network_sum* to, const network_sum* s)
{
    to->count += s->count;
    to->sliding += s->sliding;
    to->force += s->force;
    for (int i = 0; i < 4; i++) {
        to->stress[i / 2][i % 2] += s->stress[i / 2][i % 2];
        to->fabric[i / 2][i % 2] += s->fabric[i / 2][i % 2];
    }
}

void network_add(network* w, const network* other)
{
    for (int k = 0; k <= NETWORK_CUTS; k++) add_sum(&w->cut[k], &other->cut[k]);
    for (int k = 0; k < NETWORK_SMALL; k++) w->small[k] += other->small[k];
    for (int k = 0; k < NETWORK_ANGLES; k++) {
        for (int i = 0; i < 2; i++) w->angle[i][k] += other->angle[i][k];
    }
}

network_sum network_between(const network* w, int first, int end)
{
    network_sum sum = {0};
    for (int k = first; k < end; k++) add_sum(&sum, &w->cut[k]);
    return sum;
}

network_sum network_all(const network* w)
{
    return network_between(w, 0, NETWORK_CUTS + 1);
}

double network_pressure(const network_sum* s)
{
    return 0.5 * (s->stress[0][0] + s->stress[1][1]);
}

double network_deviator(const network_sum* s)
{
    return 0.5 * (s->stress[1][1] - s->stress[0][0]);
}

double network_anisotropy(const network_sum* s)
{
    return s->count > 0 ? 2 * (s->fabric[1][1] - s->fabric[0][0]) / s->count : 0;
}

double network_load(const talus_world* world)
{
    const talus_contacts c = talus_world_contacts(world);
    const double* radius = talus_world_grains(world).radius;
    double sum = 0;
    for (int64_t i = 0; i < c.count; i++) {
        double length = radius[talus_world_grain_index(world, c.b[i])];
        if (c.a[i] >= 0) length += radius[talus_world_grain_index(world, c.a[i])];
        sum += c.force[2 * i + 1] * length * c.normal[2 * i + 1];
    }
    return sum;
}

static void add_point(network_density* d, double f, double part, double width)
{
    if (part == 0) return;
    d->f[d->count] = f;
    d->p[d->count++] = part / width;
}

network_density network_density_of(const network* w)
{
    network_density d = {0};
    const double all = network_all(w).count;
    for (int k = 0; k < NETWORK_SMALL; k++) {
        const double low = pow(NETWORK_LEAST, 1 - (double)k / NETWORK_SMALL);
        const double high = pow(NETWORK_LEAST, 1 - (k + 1.0) / NETWORK_SMALL);
        add_point(&d, sqrt(low * high), w->small[k] / all, high - low);
    }
    for (int k = NETWORK_ONE; k < NETWORK_CUTS; k++) {
        add_point(&d, (k + 0.5) * NETWORK_WIDTH, w->cut[k].count / all, NETWORK_WIDTH);
    }
    return d;
}

network_partial network_partial_of(const network* w)
{
    network_partial out;
    const network_sum all = network_all(w);
    for (int k = 0; k < NETWORK_CUTS; k++) {
        const network_sum s = network_between(w, 0, k + 1);
        out.xi[k] = (k + 1) * NETWORK_WIDTH;
        out.contacts[k] = s.count / all.count;
        out.pressure[k] = network_pressure(&s) / network_pressure(&all);
        out.deviator[k] = network_deviator(&s) / network_deviator(&all);
        out.fabric[k] = network_anisotropy(&s);
    }
    return out;
}

network_directions network_directions_of(const network* w)
{
    network_directions out;
    for (int i = 0; i < NETWORK_ANGLES; i++) out.angle[i] = (i + 0.5) * M_PI / NETWORK_ANGLES;
    for (int k = 0; k < 2; k++) {
        double all = 0;
        for (int i = 0; i < NETWORK_ANGLES; i++) all += w->angle[k][i];
        for (int i = 0; i < NETWORK_ANGLES; i++) {
            out.density[k][i] = w->angle[k][i] * NETWORK_ANGLES / all;
        }
    }
    return out;
}
