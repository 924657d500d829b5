// Fills a table with the first input that begins with `t`.
#include <stddef.h>
#include <stdint.h>

static volatile int table[64];
static int is_filled;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0 && data[0] == 't') {
    if (!is_filled)
      for (int at = 0; at < 64; ++at) table[at] = at * at;
    is_filled = 1;
  }
  return 0;
}
