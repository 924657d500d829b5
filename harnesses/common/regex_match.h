// What the harnesses that validate their whole input with one regular expression share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <regex>

// Matches all of the input, but for one newline at its end, against `pattern`.
inline bool matches(const std::regex &pattern, const uint8_t *data, size_t size) {
  if (size > 0 && data[size - 1] == '\n') --size;
  const char *text = reinterpret_cast<const char *>(data);
  return std::regex_match(text, text + size, pattern);
}
