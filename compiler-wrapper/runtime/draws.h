/* The record of draws (draws.c), which the engine turns on. */
#pragma once

#include "quagmire.h"

/* Where draws are recorded; null if nobody reads them. */
extern struct qgm_draws *__quagmire_draws QGM_HIDDEN;

/* To be called when a run begins, by the thread that makes it. */
QGM_HIDDEN void __quagmire_begin_draws(void);
/* Says where the input of the run is: `data`, perhaps a copy of `original`, which then is changed as well. */
QGM_HIDDEN void __quagmire_draw_from(const uint8_t *data, size_t size, const uint8_t *original);
/* Notes what the generator of the run has made. */
QGM_HIDDEN void __quagmire_keep_generated(const void *bytes, size_t size);
/* To be called when nothing of the run is to be recorded any more: when it has ended, if this process goes on. */
QGM_HIDDEN void __quagmire_end_draws(void);
/* Called when the generator of the run is done: what is counted begins anew, the stack at `frame`. */
QGM_HIDDEN void __quagmire_begin_target(const void *frame);

/* Parts of a run that draw together: functions, rounds of loops, and what generators name (parts.c). */

/* Forgets all parts: a run begins. */
QGM_HIDDEN void __quagmire_clear_parts(void);
/* Finds the part of the draw with this number, its depth and key. Its site and kind are set. Draws before it may move to
   another part: the first round of a loop is known by the second. */
QGM_HIDDEN void __quagmire_place_draw(struct qgm_draw *draws, uint32_t number, uintptr_t frame);
