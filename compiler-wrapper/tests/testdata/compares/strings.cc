// std::string, as it is compared in C++. Prints the slots that a text with 0, 1, ... right bytes hits in the whole program
// beyond those of one without any.
extern "C" {
#include "slots.h"
}
#include <cstdio>
#include <string>

static volatile int sink;

__attribute__((noinline)) static void literal(const std::string &text) {
  if (text == "ABCDEFGHI")
    sink = sink + 1;
}

__attribute__((noinline)) static void other(const std::string &text) {
  static const std::string expected("ABCDEFGHI");
  if (text == expected)
    sink = sink + 1;
}

OUTSIDE unsigned all_slots(bool clear) {
  unsigned hit = 0;
  const qgm_module &module = __quagmire_modules.module[0];
  for (const qgm_function *f = module.functions_start; f < module.functions_stop; f++)
    for (uint32_t edge = f->edges - f->charges - f->progress; f->entry && edge < f->edges - f->charges; edge++) {
      hit += f->counts[edge - 1];
      if (clear)
        f->counts[edge - 1] = 0;
    }
  return hit;
}

OUTSIDE void show(const char *name, void (*compare)(const std::string &)) {
  printf("%s:", name);
  unsigned without = 0;
  for (size_t right = 0; right <= 9; right++) {
    std::string text(std::string("ABCDEFGHI").substr(0, right) + std::string(9 - right, '-'));
    all_slots(true);
    compare(text);
    unsigned hit = all_slots(false);
    without = right == 0 ? hit : without;
    printf(" %u", hit - without);
  }
  printf("\n");
}

int main() {
  show("literal", literal);
  show("other", other);
}
