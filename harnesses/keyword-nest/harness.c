// Attribute-list declarations, compared byte by byte. See README.md.
#include "keyword_nest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  volatile size_t deepest = deepest_level(data, size); // volatile: the search must not be optimised away
  (void)deepest;
  return 0;
}
