/* The program's other source. */
#include "a.h"
int twice(int number) { return 2 * number; }
