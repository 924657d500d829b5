/* The harness's own mutation (mutator.c). */
#ifndef QUAGMIRE_MUTATOR_H
#define QUAGMIRE_MUTATOR_H

#include "quagmire.h"

/* The functions for struct qgm_harness; null where the harness has none. */
QGM_HIDDEN qgm_mutate_function *__quagmire_mutate(void);
QGM_HIDDEN qgm_mutate_function *__quagmire_cross_over(void);

#endif
