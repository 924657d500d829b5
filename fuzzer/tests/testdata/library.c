// A shared library whose only work is a loop of n iterations.
#include <stdint.h>

void library_loop(uint32_t n) {
  for (uint32_t i = 0; i < n; i++) __asm__ volatile("");
}
