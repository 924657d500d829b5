// A loop of 5,000,000,000 iterations: more than fit into 32 bits.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)data, (void)size;
  for (uint64_t i = 0; i < 5000000000u; i++) __asm__ volatile("");
  return 0;
}
