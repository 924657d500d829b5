// Known counts: the first byte chooses a shape, the next four are n (little endian), which is how often its edge runs.
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static volatile uint32_t sink;
static jmp_buf back;

__attribute__((noinline)) static void loop(uint32_t n) {
  for (uint32_t i = 0; i < n; i++) __asm__ volatile("");
}

// n is the number of outer iterations; each has 7 inner ones
__attribute__((noinline)) static void nested(uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < 7; j++) __asm__ volatile("");
}

__attribute__((noinline)) static void choose(uint32_t n) {
  for (uint32_t i = 0; i < 4 * n; i++) {
    switch (i % 4) {
    case 0: sink += 1; break;
    case 1: sink ^= 0x55; break;
    case 2: sink *= 3; break;
    default: sink = ~sink;
    }
  }
}

__attribute__((noinline)) static void jump(void) { longjmp(back, 1); }

__attribute__((noinline)) static void jumps(uint32_t n) {
  for (volatile uint32_t i = 0; i < n; i++)
    if (!setjmp(back)) jump();
}

__attribute__((noinline)) static uint32_t recurse(uint32_t n) {
  if (n == 0) return 0;
  volatile uint32_t below = recurse(n - 1);
  return below + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 5) return 0;
  uint32_t n;
  memcpy(&n, data + 1, 4);
  switch (data[0]) {
  case 'l': loop(n); break;
  case 'n': nested(n); break;
  case 's': choose(n); break;
  case 'j': jumps(n); break;
  case 'r': sink = recurse(n); break;
  }
  return 0;
}
