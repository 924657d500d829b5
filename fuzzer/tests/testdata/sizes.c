// Takes 100 bytes of the heap and some work for each byte of its input, and for each `x` as much again for each byte. A
// document ends at the first `.`, if DOCUMENT is set; without it, all of the input is read.
#include <stdint.h>
#include <stdlib.h>

static volatile uint8_t sink;
static void *volatile block; // or the compiler leaves out what is allocated

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t end = size, xs = 0;
#ifdef DOCUMENT
  for (end = 0; end < size && data[end] != '.'; ++end) {
  }
#endif
  for (size_t i = 0; i < end; ++i) {
    xs += data[i] == 'x';
    for (int step = 0; step < 20; ++step) sink += data[i];
  }
  block = malloc(100 * end + 1);
  free(block);
  for (size_t i = 0; i < xs; ++i) {
    for (size_t j = 0; j < end; ++j) sink += data[j];
  }
  if (xs > 0) {
    block = malloc(100 * end * (xs + 1));
    free(block);
  }
  return 0;
}
