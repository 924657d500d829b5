/* Counters of the harness's own (extra.c). */
#ifndef QUAGMIRE_EXTRA_H
#define QUAGMIRE_EXTRA_H

#include "quagmire.h"

/* Clears them before a run. */
QGM_HIDDEN void __quagmire_clear_extra(void);
/* Adds them to the counts after a run, however it ended. */
QGM_HIDDEN void __quagmire_fold_extra(void);

#endif
