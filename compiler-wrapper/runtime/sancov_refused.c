/* Linked into programs with a fork server: callbacks of SanitizerCoverage, so that objects which others have compiled can be
   linked, and are noticed: the fork server counts what the pass has compiled only. Weak: the program may have its own. */
#include "counts.h"

#define REFUSED(name)                                                                                                              \
  __attribute__((weak)) void name(void) { __quagmire_has_sancov = 1; }
#define IGNORED(name)                                                                                                              \
  __attribute__((weak)) void name(void) {}

int __quagmire_has_sancov;
__attribute__((weak)) __thread uintptr_t __sancov_lowest_stack __attribute__((tls_model("initial-exec")));

/* Called by constructors. */
REFUSED(__sanitizer_cov_trace_pc_guard_init)
REFUSED(__sanitizer_cov_8bit_counters_init)
REFUSED(__sanitizer_cov_bool_flag_init)
REFUSED(__sanitizer_cov_pcs_init)

IGNORED(__sanitizer_cov_trace_pc_guard)
IGNORED(__sanitizer_cov_trace_pc)
IGNORED(__sanitizer_cov_trace_pc_indir)
IGNORED(__sanitizer_cov_trace_cmp1)
IGNORED(__sanitizer_cov_trace_cmp2)
IGNORED(__sanitizer_cov_trace_cmp4)
IGNORED(__sanitizer_cov_trace_cmp8)
IGNORED(__sanitizer_cov_trace_const_cmp1)
IGNORED(__sanitizer_cov_trace_const_cmp2)
IGNORED(__sanitizer_cov_trace_const_cmp4)
IGNORED(__sanitizer_cov_trace_const_cmp8)
IGNORED(__sanitizer_cov_trace_cmpf)
IGNORED(__sanitizer_cov_trace_cmpd)
IGNORED(__sanitizer_cov_trace_switch)
IGNORED(__sanitizer_cov_trace_div4)
IGNORED(__sanitizer_cov_trace_div8)
IGNORED(__sanitizer_cov_trace_gep)
IGNORED(__sanitizer_cov_stack_depth)
IGNORED(__sanitizer_cov_cfs_init)
