// Shapes whose line counts are compared with those of gcov: one statement in each line.
#include <stddef.h>
#include <stdint.h>

static volatile uint32_t sink;

static uint32_t mix(uint32_t x) {
  sink += x;
  return x * 2654435761u;
}

static uint32_t depth(uint32_t n) {
  if (n == 0)
    return 0;
  return 1 + depth(n - 1);
}

static void classes(const uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; i++) {
    switch (data[i]) {
    case 'a':
      mix(1);
      break;
    case 'b':
      mix(2);
      /* fall through */
    case 'c':
      mix(3);
      break;
    default:
      sink ^= i;
    }
  }
}

static void pairs(const uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; i++) {
    for (size_t j = 0; j < i; j++) {
      if (data[i] == data[j])
        sink++;
      else if (data[i] < data[j])
        sink--;
    }
  }
  size_t left = size;
  while (left > 0) {
    left--;
    if (left % 3 == 0)
      continue;
    sink += left;
  }
  do {
    left++;
  } while (left < size / 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return -1;
  classes(data, size);
  pairs(data, size);
  depth(size % 10);
  return 0;
}
