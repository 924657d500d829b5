// Does as much work as the number in its input says. See README.md.
#include <stddef.h>
#include <stdint.h>

#define MOST 100000000

static uint32_t number_in(const uint8_t *data, size_t size) {
  uint32_t number = 0;
  for (size_t i = 0; i < size && data[i] >= '0' && data[i] <= '9' && number <= MOST; ++i) {
    number = number * 10 + (data[i] - '0');
  }
  return number < MOST ? number : MOST;
}

// Each step needs the one before: nothing to vectorise, nothing to predict, no memory.
__attribute__((noinline)) static uint32_t work(uint32_t steps) {
  uint32_t state = 2463534242u;
  for (uint32_t i = 0; i < steps; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
  }
  return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  volatile uint32_t kept = work(number_in(data, size)); // volatile: the work must not be optimised away
  (void)kept;
  return 0;
}
