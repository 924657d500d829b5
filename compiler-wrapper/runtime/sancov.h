/* SanitizerCoverage: counts of objects that others have compiled. After machine.h. */
#ifndef QUAGMIRE_SANCOV_H
#define QUAGMIRE_SANCOV_H

#include "quagmire.h"

/* Lowest stack pointer of this thread, as __quagmire_lowest_stack: updated by objects compiled with stack-depth, which
   -fsanitize=fuzzer-no-link includes. */
extern __thread uintptr_t __sancov_lowest_stack __attribute__((tls_model("initial-exec")));

/* Registers what is counted when main begins. */
QGM_HIDDEN void __quagmire_sancov_start(void);
/* Registers what was opened since, and adds what 8-bit counters have counted. To be called after LLVMFuzzerInitialize and
   after each run, however it ended. */
QGM_HIDDEN void __quagmire_sancov_collect(void);

#endif
