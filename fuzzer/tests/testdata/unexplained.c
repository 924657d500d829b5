// Costs much for inputs that begin with `!`, whatever follows: nothing in them repeats. `w` waits as many hundredths of a second as the
// number behind it says.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned seen;

__attribute__((noinline)) static void count(unsigned rounds) {
  for (unsigned i = 0; i < rounds; i++) seen += i;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char text[8] = "";
  if (size == 0) return 0;
  for (size_t i = 1; i < size && i < sizeof text; i++) text[i - 1] = (char)data[i];
  if (data[0] == '!') count(200000);
  if (data[0] == 'w') usleep(10000 * (useconds_t)strtoul(text, NULL, 10));
  return 0;
}
