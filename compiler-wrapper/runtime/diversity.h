/* Diversity of the runs that one of AFL++'s tools asks for: unique traces, and Hill numbers of what they cover. */
#ifndef QUAGMIRE_DIVERSITY_H
#define QUAGMIRE_DIVERSITY_H

#include "quagmire.h"

/* Environment variable with the name of the file for the figures. */
#define QGM_DIVERSITY "QUAGMIRE_DIVERSITY"

/* Starts counting, if the environment asks for it. To be called by the server when it knows all edges. Ends the process if
   the file cannot be written. */
QGM_HIDDEN void __quagmire_diversity_start(void);
/* Adds a run that has ended, or stopped in its loop, with this wait status. To be called by the server before it clears the
   counts. */
QGM_HIDDEN void __quagmire_diversity_add(int status);

#endif
