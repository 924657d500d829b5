/* A generator of the user's own in front of a program under the fork server. */
#ifndef QUAGMIRE_GENERATOR_H
#define QUAGMIRE_GENERATOR_H

#include "quagmire.h"

/* Opens the generator that the fuzzer has named, if there is one. Returns 0 if it cannot be used: then the shared memory says
   why. */
QGM_HIDDEN int __quagmire_open_generator(void);
QGM_HIDDEN int __quagmire_has_generator(void);
/* Makes the input of the program in a child whose run has begun, stack at `frame`. Ends the child if there is none. */
QGM_HIDDEN void __quagmire_generate(const void *frame);

#endif
