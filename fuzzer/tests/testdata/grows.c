// Costs more with each byte, and the more the larger the byte is.
#include <stddef.h>
#include <stdint.h>

static volatile unsigned work;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (size_t at = 0; at < size; ++at)
    if (data[at] > 64)
      for (unsigned i = 0; i < data[at]; ++i) work += i;
  return 0;
}
