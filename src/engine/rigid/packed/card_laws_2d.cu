/// Sweeps of a card over contacts of any law in the plane.
#define CARD_DIM 2
#include "rigid/packed/card_laws.h"
