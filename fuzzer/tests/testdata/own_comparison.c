// Compares one number, which no input holds, and runs a function whose count, as the engine keeps it, is a text of the input.
#include <stddef.h>
#include <stdint.h>

__attribute__((noinline)) static unsigned turn(unsigned n) {
  volatile unsigned turns = 0;
  do
    turns++;
  while (turns < n);
  return turns;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile uint32_t number = 0x7f3a91c5;
  if (number == 0x51c2e8d4 || size < 2)
    return 0;
  turn(1 + (data[0] | data[1] << 8));
  return 0;
}
