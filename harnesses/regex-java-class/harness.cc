// Validates the input with OWASP's regular expression for Java class names. See README.md.
#include "../common/regex_match.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::regex class_name("^(([a-z])+.)+[A-Z]([a-z])+$");
  matches(class_name, data, size);
  return 0;
}
