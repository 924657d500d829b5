/* The guard around code of the target in the engine's process (inprocess.c), for what else calls such code. */
#pragma once

#include "quagmire.h"

/* Calls `code` with `argument`, and returns what that returns, or how it ended: by a crash, an exit, the hang timeout. */
QGM_HIDDEN enum qgm_status __quagmire_guarded(enum qgm_status (*code)(void *), void *argument);

/* Tells MemorySanitizer, if it is linked, that these bytes are initialised, and so many arguments of the function that is called
   next: the engine, which has written them, is not compiled with it. */
QGM_HIDDEN void __quagmire_unpoison(const void *data, size_t size, size_t parameters);

/* Around code of the engine that code of the target calls: a run that is to be cut off goes on until it is left. */
QGM_HIDDEN void __quagmire_enter_engine(void);
QGM_HIDDEN void __quagmire_leave_engine(void);

/* Libraries that the target of a harness closes. */

/* Called by the runtime before an object is unmapped: returns the tables of the copy that replaces it. */
QGM_HIDDEN struct qgm_module __quagmire_closing(uint64_t number);
/* Whether anybody will read the counts of this process: it neither ends, nor is it a child that the target has forked. */
QGM_HIDDEN int __quagmire_is_counted(void);

/* Counters of the harness's own (extra.c). */

/* Clears them before a run. */
QGM_HIDDEN void __quagmire_clear_extra(void);
/* Adds them to the counts after a run, however it ended. */
QGM_HIDDEN void __quagmire_fold_extra(void);

/* The harness's own mutation (mutator.c). */

/* The functions for struct qgm_harness; null where the harness has none. */
QGM_HIDDEN qgm_mutate_function *__quagmire_mutate(void);
QGM_HIDDEN qgm_mutate_function *__quagmire_cross_over(void);
