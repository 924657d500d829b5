/* Takes as long as its input is large: two million steps a byte, about a millisecond. */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile uint64_t state;
  (void)data;
  for (size_t i = 0; i < size; i++)
    for (int step = 0; step < 2000000; step++)
      state += i;
  return 0;
}
