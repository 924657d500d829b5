// A library for reopens.c: a loop.
#include <stdint.h>

static volatile uint32_t sink;

__attribute__((noinline)) static void step(void) { sink++; }

void reopened_loop(uint32_t times) {
  for (uint32_t i = 0; i < times; i++) step();
}
