// Quadratic in brackets, with two faults, and an input that the system kills it for, as for want of memory (-DKILLS). A
// harness, one that draws (-DDRAWS), or a program that reads standard input (-DPROGRAM).
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#ifdef DRAWS
#include <fuzzer/FuzzedDataProvider.h>
#endif

static volatile unsigned sink;

static int parse(const char *text, size_t size) {
  unsigned depth = 0;
  for (size_t at = 0; at < size; at++) {
    switch (text[at]) {
    case '(':
      depth++;
      for (unsigned step = 0; step < depth; step++)
        sink += step;
      break;
    case '[':
      for (size_t end = at; end < size && text[end] != ']'; end++)
        sink += text[end];
      break;
    case '#':
      if (at + 4 < size && !memcmp(text + at, "#ABC", 4))
        sink += 17;
      break;
    case '$':
      if (at + 2 < size && text[at + 1] == '!')
        abort();
      break;
    case '%':
      if (at + 2 < size && text[at + 1] == '%')
        *(volatile int *)8 = 1;
      break;
#ifdef KILLS
    case '~':
      if (at + 2 < size && text[at + 1] == '~' && text[at + 2] == '~')
        raise(SIGKILL);
      break;
#endif
    default:
      sink += text[at] > 'm';
    }
  }
  return 0;
}

#ifdef PROGRAM
int main() {
  static char text[1 << 16];
  return parse(text, fread(text, 1, sizeof text, stdin));
}
#else
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
#ifdef DRAWS
  FuzzedDataProvider drawn(data, size);
  std::string text;
  for (int words = drawn.ConsumeIntegralInRange(0, 40); words > 0; words--)
    text += drawn.ConsumeRandomLengthString(60) + (drawn.ConsumeBool() ? "(" : "[");
  return parse(text.data(), text.size());
#else
  return parse((const char *)data, size);
#endif
}
#endif
