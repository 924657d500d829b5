// Sets something up with the first input that begins with `a`, and does little else.
#include <stddef.h>
#include <stdint.h>

static volatile unsigned seen;
static int is_set_up;

__attribute__((noinline)) static void set_up(void) {
  is_set_up = 1;
  for (unsigned i = 0; i < 100; i++) seen += i;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || data[0] != 'a') return 0;
  if (!is_set_up) set_up();
  for (size_t i = 1; i < size; i++) seen += data[i];
  return 0;
}
