// Ends in every way in which a run can end badly, chosen by the first byte. See README.md.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Never returns: the compiler must neither see that nor turn the call into a jump.
static volatile int always = 1;

__attribute__((noinline)) static int recurse(volatile int *depth) {
  volatile int here = *depth + 1;
  if (always) recurse(&here);
  return here;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  volatile int depth = 0;
  switch (data[0]) {
  case 'C':
    __builtin_trap();
  case 'H':
    while (always) {
    }
    break;
  case 'S':
    recurse(&depth);
    break;
  case 'E':
    exit(3);
  }
  return 0;
}
