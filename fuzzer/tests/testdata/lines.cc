// Templates, lambdas and exceptions, for the lines that counts are attributed to.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

static volatile long sink;

namespace shapes {

template <typename T> class Set {
public:
  void add(T value) {
    for (const T &known : values) // visited once for each value before
      if (known == value) return;
    values.push_back(value);
  }
  std::vector<T> values;
};

} // namespace shapes

static int risky(int x) {
  if (x % 7 == 3) throw std::runtime_error(std::to_string(x));
  return 2 * x;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  shapes::Set<int> few;
  shapes::Set<long> many;
  for (size_t i = 0; i < size; i++) {
    few.add(data[i]);
    many.add(long(i));
    try {
      sink = sink + risky(data[i]);
    } catch (const std::exception &error) {
      sink = sink - error.what()[0];
    }
  }
  std::sort(many.values.begin(), many.values.end(), [](long a, long b) { return a > b; });
  return 0;
}
