//! Symbols of executables that shared libraries refer to, which are opened at run time: names with blanks between them.

/// Symbols of the runtime that instrumented code and headers for generators refer to.
pub(crate) const ALWAYS: &str = "__quagmire_register __quagmire_unregister __quagmire_compare __quagmire_compared_numbers \
     __quagmire_compared_words __quagmire_recording __quagmire_common __quagmire_init __quagmire_loop \
     __quagmire_testcase __quagmire_testcase_size __quagmire_draw_hooks";

/// Symbols of programs with mutants that shared libraries with mutants refer to.
pub(crate) const MUTANTS: &str = "__quagmire_register_mutants __quagmire_observe";
/// Those of programs with performance mutants.
pub(crate) const PERFORMANCE: &str = "__quagmire_register_performance __quagmire_instructions __quagmire_burn __quagmire_degraded \
     __quagmire_observe";

/// Symbols of harnesses that objects compiled with SanitizerCoverage refer to.
pub(crate) const SANCOV: &str = "__sanitizer_cov_trace_pc_guard_init __sanitizer_cov_8bit_counters_init __sanitizer_cov_pcs_init \
     __sanitizer_cov_trace_pc_guard __sanitizer_cov_trace_pc __sanitizer_cov_trace_cmp1 \
     __sanitizer_cov_trace_cmp2 __sanitizer_cov_trace_cmp4 __sanitizer_cov_trace_cmp8 \
     __sanitizer_cov_trace_const_cmp1 __sanitizer_cov_trace_const_cmp2 __sanitizer_cov_trace_const_cmp4 \
     __sanitizer_cov_trace_const_cmp8 __sanitizer_cov_trace_cmpf __sanitizer_cov_trace_cmpd \
     __sanitizer_cov_trace_switch __sanitizer_cov_trace_div4 __sanitizer_cov_trace_div8 __sanitizer_cov_trace_gep \
     __sanitizer_cov_trace_pc_indir __sanitizer_cov_load1 __sanitizer_cov_load2 __sanitizer_cov_load4 \
     __sanitizer_cov_load8 __sanitizer_cov_load16 __sanitizer_cov_store1 __sanitizer_cov_store2 \
     __sanitizer_cov_store4 __sanitizer_cov_store8 __sanitizer_cov_store16 __sanitizer_cov_stack_depth \
     __sanitizer_cov_bool_flag_init __sanitizer_cov_cfs_init __sanitizer_weak_hook_memcmp \
     __sanitizer_weak_hook_strncmp __sanitizer_weak_hook_strcmp __sanitizer_weak_hook_strncasecmp \
     __sanitizer_weak_hook_strcasecmp __sanitizer_weak_hook_strstr __sanitizer_weak_hook_strcasestr \
     __sanitizer_weak_hook_memmem __sancov_lowest_stack";
