// A parser of which a moment of fuzzing reaches enough, and that builds by itself.
#include <stddef.h>
int lists_parse(const char *text, size_t n) {
  int depth = 0, items = 0;
  for (size_t i = 0; i < n; i++) {
    switch (text[i]) {
    case '(': depth++; break;
    case ')': depth -= depth > 0; break;
    case ',': items += depth; break;
    default: break;
    }
  }
  return items;
}
