// A harness that does next to nothing: what is left is the fuzzer's own cost.
#include <stddef.h>
#include <stdint.h>

static volatile int reached;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0 && data[0] == 'q') {
    reached = 1;
    if (size > 1 && data[1] == 'u') {
      reached = 2;
      if (size > 2 && data[2] == 'a')
        reached = 3;
    }
  }
  return 0;
}
