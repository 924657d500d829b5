/* The guard around code of the target in the engine's process (inprocess.c), for what else calls such code. */
#ifndef QUAGMIRE_INPROCESS_H
#define QUAGMIRE_INPROCESS_H

#include "quagmire.h"

/* Calls `code` with `argument`, and returns what that returns, or how it ended: by a crash, an exit, the hang timeout. */
QGM_HIDDEN enum qgm_status __quagmire_guarded(enum qgm_status (*code)(void *), void *argument);

/* Tells MemorySanitizer, if it is linked, that these bytes are initialised, and so many arguments of the function that is called
   next: the engine, which has written them, is not compiled with it. */
QGM_HIDDEN void __quagmire_unpoison(const void *data, size_t size, size_t parameters);

/* Around code of the engine that code of the target calls: a run that is to be cut off goes on until it is left. */
QGM_HIDDEN void __quagmire_enter_engine(void);
QGM_HIDDEN void __quagmire_leave_engine(void);

#endif
