/// Sweeps of a card over contacts of any law in space.
#define CARD_DIM 3
#include "rigid/packed/card_laws.h"
