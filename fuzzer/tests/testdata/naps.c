// Sleeps in each run, for one hundredth of a second.
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)data;
  usleep(size ? 10000 : 1);
  return 0;
}
