/* 8-bit counters of SanitizerCoverage, made 32 bits wide. */
#ifndef QUAGMIRE_WIDEN_H
#define QUAGMIRE_WIDEN_H

#include "quagmire.h"

/* Number of the slot that an 8-bit counter counts in, and of that of the entry of its function. */
struct qgm_place {
  uint32_t slot, entry;
};

/* The 8-bit counters of a linked object, with a PC table. */
struct qgm_counters {
  const uint8_t *start;
  size_t number;
  const uintptr_t *blocks; /* where the code of each begins */
  uint32_t *slots;
  const struct qgm_place *places; /* of each, in the slots */
};

/* Memory for the slots of so many counters, which the code of a linked object reaches. `inside` is an address in this object.
   Returns null if there is none, or if code of this machine cannot be rewritten. */
QGM_HIDDEN uint32_t *__quagmire_slots_near(const void *inside, size_t number);

/* Rewrites the instructions that increment the counters, so that they increment their slots. Returns whether no counter was
   left out. The slots are near the object. */
QGM_HIDDEN int __quagmire_widen(const struct qgm_counters *counters);

#endif
