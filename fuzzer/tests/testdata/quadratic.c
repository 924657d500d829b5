// Compares each byte with every other: time grows with the square of the size, all of it in count_pairs.
#include <stddef.h>
#include <stdint.h>

__attribute__((noinline)) static size_t count_pairs(const uint8_t *data, size_t size) {
  size_t pairs = 0;
  for (size_t i = 0; i < size; i++)
    for (size_t j = 0; j < size; j++)
      pairs += data[i] == data[j];
  return pairs;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile size_t result;
  result = count_pairs(data, size);
  return 0;
}
