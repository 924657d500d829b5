// Compresses the input and expands it again.
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uLongf length = compressBound(size), back = size;
  Bytef *packed = malloc(length), *unpacked = malloc(size + 1);
  int level = size ? data[0] % 10 : 6;
  if (compress2(packed, &length, data, size, level) != Z_OK || uncompress(unpacked, &back, packed, length) != Z_OK)
    abort();
  free(packed);
  free(unpacked);
  return 0;
}
