/* Counts of a run whose target begins in its middle (window.c). */
#pragma once

#include "quagmire.h"

/* Clears the counts of all functions that have run. */
QGM_HIDDEN void __quagmire_forget_counts(void);
/* Counts those of them as entered that have gone on: they were on the stack. To be called when the run has ended. */
QGM_HIDDEN void __quagmire_count_active(void);
