/* Linked into harnesses: callbacks of SanitizerCoverage that count nothing. Objects that others have compiled need them. Each
   ignores its arguments. Strong definitions in an object of the link: runtimes of sanitizers have weak ones. */

#define IGNORED(name) void name(void) {}

/* Comparisons, and the operands of other instructions. */
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
IGNORED(__sanitizer_cov_trace_pc_indir)

/* Memory accesses and the stack. */
IGNORED(__sanitizer_cov_load1)
IGNORED(__sanitizer_cov_load2)
IGNORED(__sanitizer_cov_load4)
IGNORED(__sanitizer_cov_load8)
IGNORED(__sanitizer_cov_load16)
IGNORED(__sanitizer_cov_store1)
IGNORED(__sanitizer_cov_store2)
IGNORED(__sanitizer_cov_store4)
IGNORED(__sanitizer_cov_store8)
IGNORED(__sanitizer_cov_store16)
IGNORED(__sanitizer_cov_stack_depth)

/* Tables: flags say whether an edge ran and not how often, and the flow graph is not needed. */
IGNORED(__sanitizer_cov_bool_flag_init)
IGNORED(__sanitizer_cov_cfs_init)

/* Functions of the C library that compare, as sanitizers see them. */
IGNORED(__sanitizer_weak_hook_memcmp)
IGNORED(__sanitizer_weak_hook_strncmp)
IGNORED(__sanitizer_weak_hook_strcmp)
IGNORED(__sanitizer_weak_hook_strncasecmp)
IGNORED(__sanitizer_weak_hook_strcasecmp)
IGNORED(__sanitizer_weak_hook_strstr)
IGNORED(__sanitizer_weak_hook_strcasestr)
IGNORED(__sanitizer_weak_hook_memmem)
