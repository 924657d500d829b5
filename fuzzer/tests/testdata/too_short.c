// Rejects inputs of less than 32 bytes, after it has done what it does with their first byte.
#include <stddef.h>
#include <stdint.h>

static volatile unsigned seen;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0 && data[0] == '<') seen = data[0];
  return size < 32 ? -1 : 0;
}
