/* Harness of a function whose mutants take more time for the same result. */
#include <stddef.h>
#include <stdint.h>

static volatile uint32_t turns;

static __attribute__((noinline)) void turn(uint32_t value) {
  uint32_t rounds = value - 48; /* rounds */
  for (uint32_t i = 0; i < rounds; i++)
    for (uint32_t k = 0; k < 150000; k++)
      turns++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0)
    turn(data[0]);
  return 0;
}
