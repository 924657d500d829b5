/* 8-bit counters of SanitizerCoverage, made 32 bits wide. */
#ifndef QUAGMIRE_WIDEN_H
#define QUAGMIRE_WIDEN_H

#include "quagmire.h"

/* An 8-bit counter, and the slot that is to count in its place. */
struct qgm_counter {
  uintptr_t block; /* where the code begins that increments it */
  const uint8_t *counter;
  uint32_t *slot;
};

/* The executable part of a linked object. */
struct qgm_code {
  uintptr_t start, end;
  int protection; /* what it usually has */
};

/* Memory for the 32-bit slots of so many counters, which the code of a linked object reaches. `inside` is an address in this
   object. Returns null if there is none, or if code of this machine cannot be rewritten. */
QGM_HIDDEN uint32_t *__quagmire_slots_near(uintptr_t inside, size_t number);

/* Finds the code of a linked object and makes it writable. Returns whether it is. */
QGM_HIDDEN int __quagmire_open_code(uintptr_t inside, struct qgm_code *code);
QGM_HIDDEN void __quagmire_close_code(const struct qgm_code *code);

/* Rewrites the instruction that increments a counter, so that it increments the slot. Returns whether it was found. */
QGM_HIDDEN int __quagmire_widen(const struct qgm_code *code, const struct qgm_counter *counter);

#endif
