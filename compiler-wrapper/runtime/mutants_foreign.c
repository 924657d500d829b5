/* Linked into programs with mutants that another fuzzer runs (QUAGMIRE_DRIVER=foreign), instead of their fork server: that of
   AFL++ takes the same descriptors. */
#include "mutants.h"

/* After the constructors that register mutants, and before AFL++'s fork server. */
__attribute__((constructor(2))) static void constructed(void) { __quagmire_select_named_mutant(); }
