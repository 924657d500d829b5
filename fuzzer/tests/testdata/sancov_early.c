// A PC table that comes before its guards.
#include <stdint.h>
void __sanitizer_cov_trace_pc_guard_init(uint32_t *, uint32_t *);
void __sanitizer_cov_pcs_init(const uintptr_t *, const uintptr_t *);
void __sanitizer_cov_trace_pc_guard(uint32_t *);
int LLVMFuzzerTestOneInput(const uint8_t *data, unsigned long size);
static uint32_t guards[2];
static const uintptr_t table[4] = {(uintptr_t)LLVMFuzzerTestOneInput, 1, (uintptr_t)LLVMFuzzerTestOneInput + 1, 0};
__attribute__((constructor)) static void init(void) {
  __sanitizer_cov_pcs_init(table, table + 4);
  __sanitizer_cov_trace_pc_guard_init(guards, guards + 2);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, unsigned long size) {
  __sanitizer_cov_trace_pc_guard(guards);
  for (unsigned long i = 0; i < size; i++) __sanitizer_cov_trace_pc_guard(guards + 1);
  return data == 0;
}
