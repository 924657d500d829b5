// Many commands, a few letters each: `rare` is one of them, with branches and a loop of its own. `usual` always runs, and is
// what costs most.
#include <stddef.h>
#include <stdint.h>

static volatile unsigned work;

static void spend(unsigned times) {
  for (unsigned i = 0; i < times; ++i)
    work += i;
}

__attribute__((noinline)) static void rare(const uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '+')
      work += 3;
    if (data[i] == '-')
      spend(5);
  }
}

__attribute__((noinline)) static void usual(const uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j <= i; ++j)
      if (data[i] == data[j])
        ++work;
}

__attribute__((noinline)) static void never(void) { work = 7; }

// Other things to look into: each letter and each pair of letters is a branch.
__attribute__((noinline)) static void others(const uint8_t *data) {
#define PAIR(letter) \
  case letter: \
    switch (data[1]) { case 'a': work += 1; break; case 'b': work += 2; break; case 'c': work += 4; break; } \
    break;
  switch (data[0]) {
    PAIR('A') PAIR('B') PAIR('C') PAIR('D') PAIR('E') PAIR('F') PAIR('G') PAIR('H') PAIR('I') PAIR('J') PAIR('K') PAIR('L')
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 8)
    return 0;
  if (data[0] == '<')
    if (data[1] == '!')
      if (data[2] == 'A')
        rare(data + 3, size - 3);
  if (size > 300)
    never();
  others(data);
  usual(data, size);
  return 0;
}

#ifdef PROGRAM
#include <unistd.h>

int main(void) {
  static uint8_t data[4096];
  ssize_t size = read(0, data, sizeof data);
  return size < 0 ? 1 : LLVMFuzzerTestOneInput(data, (size_t)size);
}
#endif
