// Calls the loop of library.c, linked: as often as the input is long, times 1000.
#include <stddef.h>
#include <stdint.h>

void library_loop(uint32_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)data;
  library_loop((uint32_t)size * 1000);
  return 0;
}
