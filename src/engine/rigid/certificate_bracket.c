/// What one contact adds to the duality gap of its cluster: 0 where impulse and motion fulfil its
/// law together, else positive. certificate.c derives it and defines the names.
#include "rigid/certificate_parts.h"

#include <math.h>

/// What the exact impulse of a violated contact may exceed the present one by. A row
/// that leans on a wall has WAVE = 0.9, disordered packings are softer (SOFTNESS of residual.c).
/// With a constant 2000 m_n v instead of the last two terms 20 of 1252 iterates of bench/claim were
/// worse than claimed, by up to 4: rows of 90, heavy lids. A body wedged between two walls needs
/// more than its one diameter says: 39 where v = 0.0055, m_n = 4.9, M = 13 (seed 120 of jack), that
/// is LEAST_LENGTH = 8; with 6 it was 8 % worse than claimed.
static const double VIOLATION = 2.0, WAVE = 6.0, SINKING = 4.0, LEAST_LENGTH = 8.0;
/// An impulse beyond the bound of friction costs so many times what it could do.
static const double EXCESS = 2000.0;
/// At the bound of friction: so close to it, and with a slip that this part of the bound could
/// stop.
static const double AT_BOUND = 1.0 - 1e-9, SLIPS = 1e-6;

/// Torque T against the relative spin, both [1 or 3], with frozen bounds of rolling and torsion.
/// *turns: one of them is at its bound, which follows the normal impulse as that of sliding does.
static double torque_bracket(const problem* p, const double* n, const compound_contact* r,
                             double base, const double* spin, bool* turns)
{
    const double roll = rolling_limit(&r->rolling, base, r->h);
    if (p->dim == 2) {
        *turns = roll > 0.0 && fabs(r->torque[0]) >= AT_BOUND * roll;
        return fmax(roll * fabs(spin[0]) + r->torque[0] * spin[0], 0.0);
    }
    const double twist = rolling_limit(&r->torsion, base, r->h);
    const double tn = vec_dot(3, r->torque, n), wn = vec_dot(3, spin, n);
    const double power = vec_dot(3, r->torque, spin) - tn * wn;
    const double wt = sqrt(fmax(vec_dot(3, spin, spin) - wn * wn, 0.0));
    const double tt = sqrt(fmax(vec_dot(3, r->torque, r->torque) - tn * tn, 0.0));
    *turns = (roll > 0.0 && tt >= AT_BOUND * roll) || (twist > 0.0 && fabs(tn) >= AT_BOUND * twist);
    return fmax(twist * fabs(wn) + tn * wn, 0.0) + fmax(roll * wt + power, 0.0);
}

/// Impulse over violation that ends one of a chain of this length, in diameters, beside what the
/// contact bears already.
static ALWAYS_INLINE double growing(double mn, double heaviest, double length)
{
    return (WAVE * length) * (WAVE * length) * mn + SINKING * length * heaviest;
}

/// What the friction would do that a contact with the normal impulse pn gets if it comes to bear
/// more: no more than end its slip. Its impulse is taken to become at most the largest of the
/// cluster.
static double grip_of(const double* row, int dim, const cluster_sums* s, double pn, double slip)
{
    const double mt = row[contact_mt(dim)];
    const double needed = growing(row[contact_mn(dim)], s->heaviest, LEAST_LENGTH) * s->stray;
    const double more = fmax(fmin(needed, s->strongest - pn), 0.0);
    const double grip = fmin(mt * slip, row[contact_mu(dim)] * more);
    return grip * grip / mt;
}

/// Twice the bracket of contact c, of a cluster with the sums s, for the motion in `rows`.
static ALWAYS_INLINE double bracket(const problem* p, const int dim, int64_t c,
                                    const cluster_sums* s, const double* rows, friction_work* work)
{
    const double* row = p->contact + c * problem_width(dim);
    const double *n = row, *impulse = row + contact_p(dim);
    const double mn = row[contact_mn(dim)], mt = row[contact_mt(dim)];
    const double bias = row[contact_bias(dim)];
    const int32_t compound = problem_compound_of(p, c);
    const compound_contact* r = compound >= 0 ? &p->compound_rows[compound] : NULL;
    double u[3];
    problem_velocity_of(p, rows, c, u);
    const double un = vec_dot(dim, u, n) + bias, pn = vec_dot(dim, impulse, n);
    const double bond = r ? r->bond : 0.0, violation = un < 0.0 ? -un : 0.0;
    *work = (friction_work){0};
    // A contact that carries nothing and opens fulfils its law; in flows most do.
    const bool idle = un >= 0.0 && bond == 0.0 && vec_dot(dim, impulse, impulse) == 0.0;
    if (idle && un <= s->stray) {
        const double along = un - bias, slip2 = vec_dot(dim, u, u) - along * along;
        work->gripping = grip_of(row, dim, s, 0.0, sqrt(fmax(slip2, 0.0)));
    }
    if (idle && !r) return 0.0;

    // Along the normal.
    double sum = 0.0;
    if (bond > 0.0) sum += bond * fmax(un - bias + fmin(r->closing, bias), 0.0);
    if (pn < 0.0) sum += pn * (un - bias + fmin(r ? r->closing : 0.0, bias));
    if (pn >= 0.0 && un > 0.0) sum += pn * un;
    if (!(pn >= -bond * (1.0 + 1e-9))) return INFINITY; // a pull that no bond can bear
    sum = fmax(sum, 0.0);
    const double grown = growing(mn, s->heaviest, s->length);
    const double short_grown = growing(mn, s->heaviest, LEAST_LENGTH);
    if (violation > 0.0) sum += violation * (VIOLATION * fmax(pn, 0.0) + grown * violation);

    // Across it. Impulses beyond the bound are no solver's last word; what they may be worth
    // counts.
    double pt[3], ut[3], slip[3] = {0.0, 0.0, 0.0};
    const double base = fmax(pn + bond, 0.0);
    for (int k = 0; k < dim; k++) slip[k] = r ? r->slip[k] : 0.0;
    const double along = vec_dot(dim, slip, n);
    for (int k = 0; k < dim; k++) {
        pt[k] = impulse[k] - pn * n[k];
        ut[k] = u[k] - (un - bias) * n[k] + slip[k] - along * n[k];
    }
    const double pushed = vec_norm(dim, pt), bound = row[contact_mu(dim)] * base;
    const double speed = vec_norm(dim, ut), excess = fmax(pushed - bound, 0.0);
    sum += fmax(fmax(bound, pushed) * speed + vec_dot(dim, pt, ut), 0.0);
    work->lacking =
        2.0 * violation *
        (fmax(short_grown - grown, 0.0) * violation + row[contact_mu(dim)] * short_grown * speed);
    if (excess > 1e-9 * bound) sum += EXCESS * excess * excess / mt;
    const bool slides = bound > 0.0 && pushed >= AT_BOUND * bound && mt * speed > SLIPS * bound;
    if (slides) work->rubbing = pushed * pushed / mt;
    if (slides) work->gripping = grip_of(row, dim, s, pn, speed);
    if (!slides && pushed > 0.0) {
        const double needed = short_grown * s->stray;
        const double part = needed < base ? needed / base : 1.0;
        work->unsure = part * part * pushed * pushed / mt;
    }
    if (mn < LIGHT * s->heaviest) {
        const double grip = row[contact_mu(dim)] * s->heaviest * violation;
        work->unsettled = grip * grip / mt;
    }

    if (r && (r->rolling.coefficient > 0.0 || r->torsion.coefficient > 0.0)) {
        double spin[3];
        bool turns;
        problem_spin_of(p, rows, c, spin);
        sum += torque_bracket(p, n, r, base, spin, &turns);
        const double turned = vec_norm(spin_width(dim), r->torque) * r->inv_radius_b;
        if (turns) work->rubbing += turned * turned / mt;
    }
    return 2.0 * sum;
}

double certificate_bracket(const problem* p, int64_t c, const cluster_sums* s, const double* rows,
                           friction_work* work)
{
    return p->dim == 2 ? bracket(p, 2, c, s, rows, work) : bracket(p, 3, c, s, rows, work);
}
