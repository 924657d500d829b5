/* A harness whose allocations and copies are as long as they have to be: with AddressSanitizer, one byte less shows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int last(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size); /* allocated */
  memcpy(copy, data, size);     /* copied */
  int byte = copy[size - 1];
  free(copy);
  return byte;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return size && last(data, size) == 'r' ? -1 : 0; }
