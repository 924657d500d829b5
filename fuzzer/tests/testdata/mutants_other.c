/* The other file of mutants.c. */
#include "mutants.h"

int is_even(int a) { return twice(a) % 4 == 0; /* even */ }
