/// The network of contact forces in a packing of disks: how large they are, and which stress and
/// which directions the weak and the strong ones have.
///
/// Normal forces N between grains are in units of their mean, f = N/<N>. Everything is summed by
/// classes of f, over any number of moments of a packing: sums up to a class give the tensors of
/// all contacts with f < xi. y is the direction of the load.
#ifndef TALUS_PAPER_NETWORK_H
#define TALUS_PAPER_NETWORK_H

#include "paper.h"

enum {
    NETWORK_CUTS = 80,   ///< classes of f, as wide as NETWORK_WIDTH; one more for all beyond
    NETWORK_ONE = 10,    ///< the class with which the strong forces begin
    NETWORK_SMALL = 10,  ///< classes of f from NETWORK_LEAST to 1, equally wide in log f
    NETWORK_ANGLES = 24, ///< classes of directions, from 0 to pi
};
#define NETWORK_WIDTH 0.1
/// Contacts with less force count as open: such forces only carry rattlers along.
#define NETWORK_LEAST 0.02

/// Sums over contacts.
typedef struct network_sum {
    double count, sliding, force; ///< the latter of f
    double stress[2][2];          ///< F_i l_j of force and vector between the centres
    double fabric[2][2];          ///< n_i n_j
} network_sum;

/// Nothing but sums: those of two packings may be added.
typedef struct network {
    network_sum cut[NETWORK_CUTS + 1];
    double small[NETWORK_SMALL];
    double angle[2][NETWORK_ANGLES]; ///< contacts of the weak and of the strong network
} network;

double network_normal_force(const talus_contacts* c, int64_t contact);
/// Mean of the normal forces between grains that are not open.
double network_mean_force(const talus_contacts* c);
/// Add the forces of the last step of a world (2D, disks).
void network_take(network* w, const talus_world* world);
void network_add(network* w, const network* other);

/// Sum of the classes [first, end).
network_sum network_between(const network* w, int first, int end);
network_sum network_all(const network* w);
/// The pressure (sigma_xx + sigma_yy)/2 times the volume, and the deviator (sigma_yy - sigma_xx)/2.
double network_pressure(const network_sum* s);
double network_deviator(const network_sum* s);
/// 2 (phi_yy - phi_xx) of the mean fabric phi: positive if contacts point along the load.
double network_anisotropy(const network_sum* s);
/// Largest stress times volume of the last step of a world: sum of F_y l_y over all contacts, those
/// with walls included.
double network_load(const talus_world* world);

/// The density P(f): below 1 in logarithmic classes, then in linear ones; empty ones are left out.
typedef struct network_density {
    int count;
    double f[NETWORK_SMALL + NETWORK_CUTS], p[NETWORK_SMALL + NETWORK_CUTS];
} network_density;

network_density network_density_of(const network* w);

/// What the contacts with f < xi bear, for all xi: parts of the whole, and their anisotropy.
typedef struct network_partial {
    double xi[NETWORK_CUTS], contacts[NETWORK_CUTS], pressure[NETWORK_CUTS], deviator[NETWORK_CUTS],
        fabric[NETWORK_CUTS];
} network_partial;

network_partial network_partial_of(const network* w);

/// Density of the directions of the weak and of the strong contacts, 1 if all are equal; angles are
/// from the axis across the load, half a turn.
typedef struct network_directions {
    double angle[NETWORK_ANGLES], density[2][NETWORK_ANGLES];
} network_directions;

network_directions network_directions_of(const network* w);

#endif
