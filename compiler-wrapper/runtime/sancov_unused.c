/* Linked into harnesses: callbacks of SanitizerCoverage that count nothing. Objects that others have compiled need them. Each
   ignores its arguments. Strong definitions in an object of the link: runtimes of sanitizers have weak ones. */

#define IGNORED(name) void name(void) {}

/* Operands of instructions other than comparisons. */
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

/* The flow graph is not needed. */
IGNORED(__sanitizer_cov_cfs_init)
