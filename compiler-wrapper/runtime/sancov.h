/* SanitizerCoverage: counts of objects that others have compiled. After machine.h. */
#pragma once

#include "quagmire.h"

/* Lowest stack pointer of this thread, as __quagmire_lowest_stack: updated by objects compiled with stack-depth, which
   -fsanitize=fuzzer-no-link includes. */
extern __thread uintptr_t __sancov_lowest_stack __attribute__((tls_model("initial-exec")));

/* Registers what is counted when main begins. */
QGM_HIDDEN void __quagmire_sancov_start(void);
/* Registers what was opened since, and adds what 8-bit counters have counted. To be called after LLVMFuzzerInitialize and
   after each run, however it ended. */
QGM_HIDDEN void __quagmire_sancov_collect(void);

/* 8-bit counters of SanitizerCoverage, made 32 bits wide. */

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
