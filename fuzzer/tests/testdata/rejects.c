// Rejects (-1) what does not start with `y`, after more work the longer it is.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile unsigned sum;
  for (size_t i = 0; i < size; i++) sum += data[i];
  return size > 0 && data[0] == 'y' ? 0 : -1;
}
