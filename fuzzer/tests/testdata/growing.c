// Costs by the first byte: `q` compares all pairs of brackets behind it, `c` those among the first 300, `d` calls itself for
// each, with much stack, `h` does not return from more than 2,000.
#include <stddef.h>
#include <stdint.h>

static volatile unsigned seen;

__attribute__((noinline)) static void compare_pairs(size_t brackets) {
  for (size_t i = 0; i < brackets; i++) {
    for (size_t j = 0; j < i; j++) seen += i ^ j;
  }
}

__attribute__((noinline)) static void descend(size_t levels) {
  volatile char block[2048];
  block[0] = 1;
  if (levels > 0) descend(levels - 1);
  seen += block[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  size_t brackets = 0;
  for (size_t i = 1; i < size; i++) brackets += data[i] == '[';
  if (data[0] == 'q') compare_pairs(brackets);
  if (data[0] == 'c') compare_pairs(brackets < 300 ? brackets : 300);
  if (data[0] == 'd') descend(brackets);
  while (data[0] == 'h' && brackets > 2000) seen++;
  return 0;
}
