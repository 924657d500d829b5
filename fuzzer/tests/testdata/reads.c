// Goes over its input again and again, for some ticks, and takes no memory.
#include <stddef.h>
#include <stdint.h>

static volatile uint32_t sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t all = 0;
  for (int round = 0; size > 1000000 && round < 20; round++)
    for (size_t i = 0; i < size; i++) all = all * 31 + data[i];
  sum = all;
  return 0;
}
