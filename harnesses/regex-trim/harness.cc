// Searches every line of the input for white space to trim, as the post-mortem of the Stack Overflow outage
// of 20 July 2016 describes it. See README.md.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <regex>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // U+200C (zero-width non-joiner) is three bytes in UTF-8, and a class of a std::regex<char> holds bytes: each of the
  // three counts as white space here, which text hardly notices and costs what the original costs.
  static const std::regex blanks("^[\\s\xe2\x80\x8c]+|[\\s\xe2\x80\x8c]+$");
  const char *line = reinterpret_cast<const char *>(data);
  const char *const end = line + size;
  while (line != end) {
    const char *const stop = std::find(line, end, '\n');
    std::cmatch found;
    std::regex_search(line, stop, found, blanks);
    line = stop == end ? end : stop + 1;
  }
  return 0;
}
