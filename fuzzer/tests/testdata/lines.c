// Lines whose counts are known: n is the size of the input.
#include <stddef.h>
#include <stdint.h>

static volatile uint32_t sink;

static inline uint32_t square(uint32_t x) {
  return x * x; // n + 1
}

__attribute__((noinline)) static void triangle(uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {     // n + 1
    sink += square(i);                   // n
    for (uint32_t j = 0; j < i; j++)     // n (n + 1) / 2
      sink ^= j;                         // n (n - 1) / 2
    if (i % 2)                           // n
      sink += 1;                         // n / 2
  }
}

__attribute__((noinline, used)) static void never(void) {
  sink = 0; // 0
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)data;
  triangle(size);          // 1
  sink += square(sink);    // 1
  return 0;                // 1
}
