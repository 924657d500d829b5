/* Parts of a run that draw together: functions, rounds of loops, and what generators name (parts.c). */
#ifndef QUAGMIRE_PARTS_H
#define QUAGMIRE_PARTS_H

#include "quagmire.h"

/* Forgets all parts: a run begins. */
QGM_HIDDEN void __quagmire_clear_parts(void);
/* Finds the part of the draw with this number, its depth and key. Its site and kind are set. Draws before it may move to
   another part: the first round of a loop is known by the second. */
QGM_HIDDEN void __quagmire_place_draw(struct qgm_draw *draws, uint32_t number, uintptr_t frame);

#endif
