// A PC table that does not match its guards, which have numbers of their own.
#include <stdint.h>
void __sanitizer_cov_trace_pc_guard_init(uint32_t *, uint32_t *);
void __sanitizer_cov_pcs_init(const uintptr_t *, const uintptr_t *);
void __sanitizer_cov_trace_pc_guard(uint32_t *);
static uint32_t guards[4] = {77, 77, 77, 77};
static const uintptr_t table[6];
__attribute__((constructor)) static void init(void) {
  __sanitizer_cov_trace_pc_guard_init(guards, guards + 4);
  __sanitizer_cov_pcs_init(table, table + 6);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, unsigned long size) {
  for (unsigned long i = 0; i < size; i++) __sanitizer_cov_trace_pc_guard(guards + data[i] % 4);
  return 0;
}
