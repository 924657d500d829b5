// Costs much for inputs that begin with `!`, and crashes for all of more than four bytes: there are too few sizes for a law.
#include <stddef.h>
#include <stdint.h>

static volatile unsigned seen;

__attribute__((noinline)) static void count(unsigned rounds) {
  for (unsigned i = 0; i < rounds; i++) seen += i;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 4) __builtin_trap();
  if (size > 0 && data[0] == '!') count(200000);
  return 0;
}
