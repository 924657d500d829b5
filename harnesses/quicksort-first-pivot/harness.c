// Sorts the bytes of the input by quicksort with the first one as the pivot. See README.md.
#include "../common/sort_input.h"
#include "quicksort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sort_input(data, size, quicksort);
  return 0;
}
