/* Active functions: those on the stack when a run begins at __AFL_INIT or __AFL_LOOP. They were entered before the run, so
   that their entry counts would be 0; they count as entered once in every run. */
#ifndef QUAGMIRE_ACTIVE_H
#define QUAGMIRE_ACTIVE_H

#include "quagmire.h"

/* Records the functions that are active when a run begins; `caller` is the return address of the runtime. */
QGM_HIDDEN void __quagmire_note_active(void *caller);
/* Counts them as entered, in a run that begins. */
QGM_HIDDEN void __quagmire_enter_active(void);

#endif
