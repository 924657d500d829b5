#include "../sum.h"
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { sum(data, size); return 0; }
