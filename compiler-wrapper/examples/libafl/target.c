/* A target whose work depends on its third byte, after two that have to be right. */
#include <stddef.h>
#include <stdint.h>

__attribute__((noinline)) static void work(unsigned rounds) {
  for (volatile unsigned i = 0; i < rounds; i++) {
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 3 && data[0] == 's' && data[1] > 'x')
    work(data[2] * 1000u);
  if (size > 6 && data[0] == 'c')
    __builtin_trap();
  return 0;
}
