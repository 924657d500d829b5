// Crashes on an input that ends in `!`, and exits on one that is longer than 60 bytes.
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 60) exit(3);
  if (size > 0 && data[size - 1] == '!') abort();
  return 0;
}
