// Counts each byte among all: quadratic, with all of the work in a header of the standard library.
#include <algorithm>
#include <cstddef>
#include <cstdint>

__attribute__((noinline)) static std::size_t count_pairs(const std::uint8_t *data, std::size_t size) {
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < size; i++)
    pairs += std::count(data, data + size, data[i]);
  return pairs;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static volatile std::size_t result;
  result = count_pairs(data, size);
  return 0;
}
