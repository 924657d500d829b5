// Sorts the bytes of the input by insertion. See README.md.
#include "../common/sort_input.h"
#include "insertion_sort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sort_input(data, size, insertion_sort);
  return 0;
}
