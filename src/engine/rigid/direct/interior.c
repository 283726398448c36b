#include "rigid/direct/methods.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double TOL_(void){ static double v=-1; if(v<0) v=getenv("DT")?atof(getenv("DT")):1e-12; return v;}
#define TOL TOL_()
enum { SQUARE = MOST_COMPONENTS * MOST_COMPONENTS };

typedef struct interior {
    direct_cluster* s;
    double *p, *y, *w; ///< impulses, motion, velocities w_free + J y
    double* v;         ///< [count] gap velocity
    double* x;         ///< [components] (p - centre)/limit of bounded components
    double* eta;       ///< [count][BOUNDED]
    double *dpush, *dx, *dy, *dv, *deta;
    double *D, *r; ///< blocks, and the part of dp that does not come from dy
    double* E;     ///< [components][2]: dx = rx - E dw
    double* rx;
    double u;      ///< scale of velocities
    double mass;
    double* F;
} interior;

static int wu(void){static int v=-1; if(v<0) v=getenv("DW")?1:0; return v;}
#define WEIGHT(t,c) ((wu()? (t)->mass : (c)->mass[0])*(t)->u*(t)->u)
static double EV(const char*n,double d){ return getenv(n)?atof(getenv(n)):d; }
static const int ORDER[BOUNDED] = {HOLD, SLIDE, ROLL, TWIST};
static int verbose(void) { static int v = -1; if (v < 0) v = getenv("DV") ? atoi(getenv("DV")) : 0; return v; }

static double size2_of(const direct_part* q, const double* x)
{
    return vec_dot(q->count, x + q->first, x + q->first);
}

static double room_of(const direct_part* q, const double* x)
{
    return fmax(0.5 * (1.0 - size2_of(q, x)), 1e-16);
}

/// Put p together from its push and from x.
static void compose(const interior* t, int64_t i)
{
    const direct_contact* c = &t->s->contact[i];
    double *p = t->p + c->first, slope;
    const double* x = t->x + c->first;
    for (int k = 0; k < BOUNDED; k++) {
        const direct_part* q = &c->part[ORDER[k]];
        if (q->count == 0) continue;
        const double limit = direct_limit(c, ORDER[k], direct_base(c, p), &slope);
        for (int m = q->first; m < q->first + q->count; m++) {
            p[m] = direct_centre(c, ORDER[k]) + limit * x[m];
        }
    }
}

/// Linearise a contact: dp = r - D dw for the aim `tau`. With `second` the products of the step
/// that is in dpush, dv, dx, deta are taken in.
static void linearise(const interior* t, int64_t i, double tau, bool second)
{
    const direct_contact* c = &t->s->contact[i];
    const double *p = t->p + c->first, *w = t->w + c->first, *x = t->x + c->first;
    const double *dx = t->dx + c->first, v = t->v[i];
    double *D = t->D + i * SQUARE, *r = t->r + c->first, *rx = t->rx + c->first, *E = t->E + 2 * c->first;
    memset(D, 0, sizeof(double) * SQUARE);
    const double miss = tau * WEIGHT(t,c) - p[0] * v - (second ? t->dpush[i] * t->dv[i] : 0.0);
    r[0] = (miss - p[0] * (w[0] - v)) / v;
    D[0] = p[0] / v;
    for (int k = 0; k < BOUNDED; k++) {
        const int part = ORDER[k];
        const direct_part* q = &c->part[part];
        if (q->count == 0) continue;
        const int f = q->first;
        const double size2 = size2_of(q, x), z = room_of(q, x), eta = t->eta[i * BOUNDED + part];
        const double deta = second ? t->deta[i * BOUNDED + part] : 0.0;
        double left = tau * t->u - eta * z, b[2], xb = 0.0, slope;
        if (second) {
            left += deta * vec_dot(q->count, x + f, dx + f) + 0.5 * eta * size2_of(q, dx);
        }
        for (int m = 0; m < q->count; m++) {
            b[m] = -(w[f + m] + eta * x[f + m]) - x[f + m] * left / z - (second ? deta * dx[f + m] : 0.0);
            xb += x[f + m] * b[m];
        }
        const double share = 1.0 / (z + size2), limit = direct_limit(c, part, direct_base(c, p), &slope);
        for (int m = 0; m < q->count; m++) {
            double* row = D + (f + m) * MOST_COMPONENTS;
            rx[f + m] = (b[m] - x[f + m] * xb * share) / eta;
            r[f + m] = limit * rx[f + m];
            for (int j = 0; j < q->count; j++) {
                E[2 * (f + m) + j] = ((m == j) - x[f + m] * x[f + j] * share) / eta;
                row[f + j] = limit * E[2 * (f + m) + j];
            }
            if (part == HOLD || slope == 0.0) continue;
            const double pull = x[f + m] * slope;
            r[f + m] += pull * r[0];
            row[0] += pull * D[0];
            if (c->part[HOLD].count) {
                const int h = c->part[HOLD].first;
                r[f + m] += pull * r[h];
                row[h] += pull * D[h * MOST_COMPONENTS + h];
            }
        }
    }
}

/// Solve for a step towards `tau`; `factorise`: the matrix is new.
static bool find_step(interior* t, double tau, bool second, bool factorise)
{
    direct_cluster* s = t->s;
    const int64_t n = s->bodies * s->width;
    for (int64_t i = 0; i < s->count; i++) linearise(t, i, tau, second);
    if (factorise && !direct_factorise(s, t->D, false)) return false;
    // y + dy = J^T (p + dp), dp = r - D J dy
    direct_motion(s, t->p, t->F);
    direct_motion(s, t->r, t->dy);
    for (int64_t k = 0; k < n; k++) t->dy[k] += t->F[k] - t->y[k];
    reduced_factor_solve(s->factor, t->dy);
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        double dw[MOST_COMPONENTS], *dx = t->dx + c->first;
        const double *D = t->D + i * SQUARE, *E = t->E + 2 * c->first, *x = t->x + c->first;
        for (int k = 0; k < c->count; k++) {
            dw[k] = 0.0;
            for (int side = 0; side < 2; side++) {
                if (c->body[side] < 0) continue;
                dw[k] += vec_dot(s->width, s->J + (2 * (c->first + k) + side) * s->width, t->dy + (int64_t)c->body[side] * s->width);
            }
        }
        t->dpush[i] = t->r[c->first] - D[0] * dw[0];
        t->dv[i] = dw[0] + t->w[c->first] - t->v[i];
        for (int part = 0; part < BOUNDED; part++) {
            const direct_part* q = &c->part[part];
            if (q->count == 0) continue;
            const int f = q->first;
            const double z = room_of(q, x);
            double* eta = t->eta + i * BOUNDED + part, *deta = t->deta + i * BOUNDED + part;
            double left = tau * t->u - *eta * z;
            if (second) left += *deta * vec_dot(q->count, x + f, dx + f) + 0.5 * *eta * size2_of(q, dx);
            for (int m = 0; m < q->count; m++) {
                dx[f + m] = t->rx[c->first + f + m] - vec_dot(q->count, E + 2 * (f + m), dw + f);
            }
            *deta = (left + *eta * vec_dot(q->count, x + f, dx + f)) / z;
        }
    }
    return true;
}

/// The longest step, at most 1, that leaves all that must be positive at `keep` of what it was.
static double longest(const interior* t, double keep)
{
    const direct_cluster* s = t->s;
    double a = 1.0;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const double p = t->p[c->first], v = t->v[i];
        if (p + a * t->dpush[i] < keep * p) a = (1.0 - keep) * p / -t->dpush[i];
        if (v + a * t->dv[i] < keep * v) a = (1.0 - keep) * v / -t->dv[i];
    }
    return a;
}

/// Take a step in the parts of contact i, each as far as it can.
static void step_parts(const interior* t, int64_t i, double a, double keep, double tau)
{
    const direct_contact* c = &t->s->contact[i];
    double was[MOST_COMPONENTS], *p = t->p + c->first, *x = t->x + c->first, slope;
    const double *dx = t->dx + c->first, *w = t->w + c->first;
    memcpy(was, p, sizeof(double) * (size_t)c->count);
    const double before = direct_base(c, p);
    p[0] += a * t->dpush[i];
    for (int k = 0; k < BOUNDED; k++) {
        const int part = ORDER[k], f = c->part[part].first;
        const direct_part* q = &c->part[part];
        if (q->count == 0) continue;
        double* eta = t->eta + i * BOUNDED + part;
        const double deta = t->deta[i * BOUNDED + part], centre = direct_centre(c, part);
        const double limit_was = direct_limit(c, part, before, &slope), slope_was = slope;
        const double base = direct_base(c, p), limit = direct_limit(c, part, base, &slope);
        double next[2], size2 = 0.0;
        for (int m = 0; m < q->count; m++) {
            next[m] = (limit_was * (x[f + m] + a * dx[f + m]) + slope_was * (base - before) * x[f + m]) / limit;
            size2 += next[m] * next[m];
        }
        if (1.0 - size2 >= keep * (1.0 - size2_of(q, x)) && *eta + a * deta >= keep * *eta) {
            *eta += a * deta;
            for (int m = 0; m < q->count; m++) x[f + m] = next[m];
        } else if (getenv("DR")) {
            double d[2], A = 0.0, B = 0.0;
            for (int m = 0; m < q->count; m++) d[m] = next[m] - x[f + m], A += d[m] * d[m], B += d[m] * x[f + m];
            const double C = 0.95 * 2.0 * room_of(q, x), root = B + sqrt(B * B + A * C);
            double b = root > C ? C / root : 1.0;
            if (*eta + b * a * deta < 0.05 * *eta) b = 0.95 * *eta / (-a * deta);
            *eta += b * a * deta;
            for (int m = 0; m < q->count; m++) x[f + m] += b * d[m];
        } else {
            const double e = tau * t->u;
            *eta = e + sqrt(e * e + size2_of(q, w));
            for (int m = f; m < f + q->count; m++) x[m] = -w[m] / *eta;
        }
        for (int m = f; m < f + q->count; m++) p[m] = centre + limit * x[m];
    }
}

/// Mean of the products that the path makes equal, after a step a.
static double products(const interior* t, double a)
{
    const direct_cluster* s = t->s;
    double sum = 0.0, count = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        sum += (t->p[c->first] + a * t->dpush[i]) * (t->v[i] + a * t->dv[i]) / WEIGHT(t,c);
        count++;
        for (int part = 0; part < BOUNDED; part++) {
            const direct_part* q = &c->part[part];
            if (q->count == 0) continue;
            double x[2], size2 = 0.0;
            for (int m = 0; m < q->count; m++) x[m] = t->x[c->first + q->first + m] + a * t->dx[c->first + q->first + m], size2 += x[m] * x[m];
            sum += 0.5 * (1.0 - size2) * (t->eta[i * BOUNDED + part] + a * t->deta[i * BOUNDED + part]) / t->u;
            count++;
        }
    }
    return sum / count;
}

static void start(interior* t)
{
    const direct_cluster* s = t->s;
    double energy = 0.0, mass = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const double w = fmin(s->w_free[c->first], 0.0);
        energy += c->mass[0] * w * w;
        mass += c->mass[0];
    }
    t->u = (energy > 0.0 ? sqrt(energy / mass) : 1.0) * (getenv("DX") ? atof(getenv("DX")) : 1.0);
    t->mass = mass / (double)s->count;
    direct_motion(s, t->p, t->y);
    direct_velocities(s, t->y, t->w);
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        double *p = t->p + c->first, *x = t->x + c->first;
        const double weight = WEIGHT(t, c);
        if (t->w[c->first] > t->u) {
            t->v[i] = t->w[c->first];
            p[0] = weight / t->v[i];
        } else {
            p[0] = fmax(p[0], weight / t->u);
            t->v[i] = weight / p[0];
        }
        for (int k = 0; k < BOUNDED; k++) {
            const int part = ORDER[k];
            const direct_part* q = &c->part[part];
            if (q->count == 0) continue;
            double slope, limit = direct_limit(c, part, direct_base(c, p), &slope);
            for (int m = q->first; m < q->first + q->count; m++) x[m] = (p[m] - direct_centre(c, part)) / limit;
            const double size = sqrt(size2_of(q, x)), cut = size > 0.7 ? 0.7 / size : 1.0;
            for (int m = q->first; m < q->first + q->count; m++) x[m] *= cut;
            t->eta[i * BOUNDED + part] = 2.0 * t->u / (1.0 - size2_of(q, x));
        }
        compose(t, i);
    }
    direct_motion(s, t->p, t->y);
    direct_velocities(s, t->y, t->w);
}

bool direct_interior(direct_cluster* s, const direct_budget* budget, double* p)
{
    const int64_t n = s->bodies * s->width, m = s->components, c = s->count;
    double* room = calloc((size_t)(7 * m + 3 * n + c * (3 + 2 * BOUNDED + SQUARE) + 1), sizeof(double));
    if (!room) return false;
    interior t = {.s = s, .p = p};
    double* at = room;
#define TAKE(x, k) t.x = at, at += (k)
    TAKE(w, m); TAKE(x, m); TAKE(dx, m); TAKE(r, m); TAKE(rx, m); TAKE(E, 2 * m); TAKE(y, n); TAKE(dy, n); TAKE(F, n); TAKE(v, c); TAKE(dv, c); TAKE(dpush, c);
    TAKE(eta, c * BOUNDED); TAKE(deta, c * BOUNDED); TAKE(D, c * SQUARE);
    start(&t);
    bool good = false;
    for (int i = 0; i < 200 && s->factorisations < budget->factorisations; i++) {
        memset(t.dx, 0, sizeof(double) * (size_t)m);
        memset(t.dv, 0, sizeof(double) * (size_t)c);
        memset(t.dpush, 0, sizeof(double) * (size_t)c);
        memset(t.deta, 0, sizeof(double) * (size_t)(c * BOUNDED));
        const double tau = products(&t, 0.0);
        direct_motion(s, t.p, t.F);
        double miss = 0.0, gap = 0.0, all = direct_dot(n, t.y, t.y), slip = 0.0, real = 0.0;
        for (int64_t k = 0; k < n; k++) miss += (t.F[k] - t.y[k]) * (t.F[k] - t.y[k]);
        for (int64_t j = 0; j < c; j++) {
            const direct_contact* q = &s->contact[j];
            const double g = t.w[q->first] - t.v[j];
            gap += q->mass[0] * g * g;
            real += t.p[q->first] * t.v[j];
            for (int part = 0; part < BOUNDED; part++) {
                double slope;
                if (q->part[part].count == 0) continue;
                const double limit = direct_limit(q, part, direct_base(q, t.p + q->first), &slope);
                real += limit * t.eta[j * BOUNDED + part] * 0.5 * (1.0 - size2_of(&q->part[part], t.x + q->first));
                for (int k = q->part[part].first; k < q->part[part].first + q->part[part].count; k++) {
                    const double e = t.w[q->first + k] + t.eta[j * BOUNDED + part] * t.x[q->first + k];
                    slip += q->mass[k] * e * e;
                }
            }
        }
        if (verbose()) printf("  %3d tau %.2e motion %.2e gap %.2e slip %.2e real %.2e |y| %.6e\n", i, tau, sqrt(miss / all), sqrt(gap / all), sqrt(slip / all), sqrt(real / all), sqrt(all));
        if (real <= TOL * all && miss + gap <= TOL * all) { good = true; break; }
        if (!find_step(&t, 0.0, false, true)) break;
        const double affine = longest(&t, 0.0);
        const double after = products(&t, affine);
        double sigma = after / tau; sigma = sigma * sigma * sigma;
        sigma = fmin(fmax(sigma, 1e-6), 1.0);
        const bool off = miss > EV("DB",0.1) * real;
        if (off) sigma = 1.0;
        if (!find_step(&t, sigma * tau, !off && !getenv("DN") && affine > 0.1, false)) break;

        double a = longest(&t, fmax(0.005, fmin(0.1, 1e-1 * (1 - affine))));
        if (!off && affine > 0.1 && a < 0.5 * affine) {
            if (!find_step(&t, sigma * tau, false, false)) break;
            a = longest(&t, fmax(0.005, fmin(0.1, 1e-1 * (1 - affine))));
        }
        if (verbose() > 1) printf("      affine %.3f sigma %.2e step %.3f\n", affine, sigma, a);
        double* keep = malloc(sizeof(double) * (size_t)(2 * m + n + c * (1 + BOUNDED)));
        memcpy(keep, t.p, 8 * (size_t)m); memcpy(keep + m, t.x, 8 * (size_t)m); memcpy(keep + 2 * m, t.y, 8 * (size_t)n);
        memcpy(keep + 2 * m + n, t.v, 8 * (size_t)c); memcpy(keep + 2 * m + n + c, t.eta, 8 * (size_t)(c * BOUNDED));
        for (int back = 0; back < 8; back++) {
            for (int64_t k = 0; k < n; k++) t.y[k] += a * t.dy[k];
            for (int64_t k = 0; k < c; k++) t.v[k] += a * t.dv[k];
            direct_velocities(s, t.y, t.w);
            for (int64_t k = 0; k < c; k++) step_parts(&t, k, a, 0.005, sigma * tau);
            direct_motion(s, t.p, t.F);
            double now = 0.0;
            for (int64_t k = 0; k < n; k++) now += (t.F[k] - t.y[k]) * (t.F[k] - t.y[k]);
            double gaps = 0.0;
            for (int64_t j = 0; j < c; j++) {
                const direct_contact* q = &s->contact[j];
                const double g = t.w[q->first] - t.v[j];
                gaps += q->mass[0] * g * g;
                for (int part = 0; part < BOUNDED; part++) {
                    for (int k = q->part[part].first; k < q->part[part].first + q->part[part].count; k++) {
                        const double e = t.w[q->first + k] + t.eta[j * BOUNDED + part] * t.x[q->first + k];
                        if(getenv("DSL")) gaps += q->mass[k] * e * e; else (void)e;
                    }
                }
            }
            now += gaps;
            if (back == 7 || now <= fmax((1.0 - 0.1 * a) * (miss + gap + (getenv("DSL")?slip:0)), EV("DA",0.03) * real)) break;
            a *= 0.5;
            memcpy(t.p, keep, 8 * (size_t)m); memcpy(t.x, keep + m, 8 * (size_t)m); memcpy(t.y, keep + 2 * m, 8 * (size_t)n);
            memcpy(t.v, keep + 2 * m + n, 8 * (size_t)c); memcpy(t.eta, keep + 2 * m + n + c, 8 * (size_t)(c * BOUNDED));
        }
        free(keep);
        if (verbose() > 1) printf("      taken %.4f\n", a);
    }
    free(room);
    return good;
}
