// An exception that nobody catches.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (std::string(data, data + size) == "throw") throw std::runtime_error("nobody catches this");
  return 0;
}
