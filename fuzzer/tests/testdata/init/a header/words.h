// Counts in C++, with all ways to take a text.
#pragma once
#include <cstdint>
#include <istream>
#include <span>
#include <string>
#include <string_view>
#include <vector>
namespace words {
enum class Mode { all, some };
inline int sum(const char *from, const char *to) {
  int found = 0;
  for (; from != to; from++)
    found += *from == ' ';
  return found;
}
inline int of_string(std::string const &text, Mode) { return sum(text.data(), text.data() + text.size()); }
inline int of_view(std::string_view text) { return sum(text.data(), text.data() + text.size()); }
inline int of_bytes(const std::vector<std::uint8_t> &all) {
  return sum((const char *)all.data(), (const char *)all.data() + all.size());
}
inline int of_stream(std::istream &from) {
  std::string text;
  int found = 0;
  while (std::getline(from, text))
    found += of_view(text);
  return found;
}
template <class Iterator> int of_range(Iterator first, Iterator last) {
  int found = 0;
  for (; first != last; ++first)
    found += *first == ' ';
  return found;
}
class Counter {
public:
  explicit Counter(Mode mode, int limit = 3) : mode(mode), limit(limit) {}
  int count(const std::string &text) { return of_string(text, mode) + limit; }
  static int once(std::string_view text) { return of_view(text); }
private:
  Mode mode;
  int limit;
};
class Calculator {
public:
  void SetExpr(const std::string &expr) { text = expr; }
  int Eval() const { return of_view(text); }
private:
  std::string text;
};
} // namespace words
