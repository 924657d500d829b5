// The first byte says what is used, the second how much of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

static void *kept;
static void *volatile sink;

__attribute__((noinline)) static int deep(int levels) {
  volatile char frame[64];
  frame[0] = (char)levels;
  return levels ? deep(levels - 1) + frame[0] : frame[0];
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  size_t amount = data[1];
  switch (data[0]) {
  case 'm':  // one block
    sink = malloc(amount * 1000);
    free(sink);
    break;
  case 'n': {  // C++
    sink = operator new(amount * 1000);
    operator delete(sink);
    break;
  }
  case 's':  // many blocks, one at a time
    for (size_t i = 0; i < amount; i++) {
      sink = malloc(1000);
      free(sink);
    }
    break;
  case 'g': {  // one block that grows
    void *block = nullptr;
    for (size_t i = 1; i <= amount; i++) sink = block = realloc(block, i * 1000);
    free(block);
    break;
  }
  case 'k':  // memory that outlives the run
    free(kept);
    sink = kept = malloc(amount * 1000);
    break;
  case 'd':
    deep((int)amount);
    break;
  }
  return 0;
}
