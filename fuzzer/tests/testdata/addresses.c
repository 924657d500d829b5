// Costs what its addresses say, as a table with pointers as keys does: of the stack, of a block, and of the program itself.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)data, (void)size;
  static unsigned fixed;
  unsigned here = 0;
  void *block = malloc(1000);
  const uintptr_t addresses[] = {(uintptr_t)&here, (uintptr_t)block, (uintptr_t)&fixed};
  for (unsigned at = 0; at < 3; at++)
    for (uintptr_t rounds = addresses[at] >> 12 & 0xfff; rounds > 0; rounds--) __asm__ volatile("");
  free(block);
  return 0;
}
