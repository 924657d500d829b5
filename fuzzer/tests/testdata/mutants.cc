// Mutants in C++: templates, members, exceptions that fly through mutated code, and destructors on their way.
#include <quagmire/observe.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

static int alive;

struct Guard {
  Guard() { alive++; }  // enters
  ~Guard() { alive--; } // leaves
};

template <typename T> T larger(T a, T b) { return a < b ? b : a; } // template

static int digit(char c) {
  Guard guard;
  if (c < '0' || c > '9') // thrown
    throw std::invalid_argument(std::string(1, c));
  return c - '0';
}

static int number(const std::string &text) {
  int value = 0;
  for (char c : text)
    value = value * 10 + digit(c); // ten
  return value;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string shown;
  try {
    int value = number(std::string(reinterpret_cast<const char *>(data), size));
    shown = std::to_string(larger(value, 5)) + std::to_string(larger(value * 0.5, 2.0));
  } catch (const std::exception &error) {
    shown = std::string("thrown ") + error.what();
  }
  shown += std::to_string(alive);
  qgm_observe(shown.data(), shown.size());
  return 0;
}
