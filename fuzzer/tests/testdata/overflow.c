// Reads one byte past the end of a heap block when the input starts with `!`.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile uint8_t result;
  if (size < 2) return 0;
  uint8_t *copy = malloc(size);
  memcpy(copy, data, size);
  if (copy[0] == '!') result = copy[size];
  result = copy[size - 1];
  free(copy);
  return 0;
}
