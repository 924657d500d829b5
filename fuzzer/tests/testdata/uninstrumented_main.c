// A harness whose work is done by uninstrumented_helper.c, which is compiled without the wrapper: coverage and instructions are
// the same for every input, and time is not.
#include <stddef.h>
#include <stdint.h>

size_t moves_of_insertion_sort(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile size_t result;
  result = moves_of_insertion_sort(data, size);
  return 0;
}
