// Validates the input with RegExLib's regular expression for email addresses. See README.md.
#include "../common/regex_match.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::regex email(
      R"(^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$)");
  matches(email, data, size);
  return 0;
}
