// Crashes (-DEND='abort()' or another statement) with every input of odd length: half of all mutants.
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)data;
  if (size % 2 == 1) END;
  return 0;
}
