// A generator whose work is drawn, and the target behind it: the size of what it generates is the last byte of the input, the
// work of the generator the two before it. With -DEMPTY, nothing says where the target begins.
#include <quagmire/draws.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) unsigned work(unsigned rounds) {
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < rounds; i++)
    sum += i & 3 ? i : 1;
  return sum;
}

static __attribute__((noinline)) unsigned descend(unsigned depth) {
  volatile char frame[64] = {0};
  return depth > 0 ? descend(depth - 1) + (unsigned)frame[depth % 64] : 0;
}

static __attribute__((noinline)) void generate(qgm_src *s, char *text, size_t size) {
  unsigned rounds = (unsigned)qgm_int(s, 0, 65535);
  char *volatile block = malloc(rounds);
  free(block);
  memset(text, 'a' + (int)(work(rounds) & 1), size);
  text[0] = (char)descend(rounds / 64);
}

static __attribute__((noinline)) int target(const char *text, size_t size) {
  char *volatile copy = malloc(100 + size);
  memcpy(copy, text, size);
  unsigned sum = work((unsigned)size * 10) + descend((unsigned)size);
  free(copy);
  return sum == 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char text[256];
  qgm_src s = qgm_from(data, size);
  size_t length = (size_t)qgm_int(&s, 0, 255);
  generate(&s, text, length);
#ifndef EMPTY
  qgm_generated(text, length);
#endif
  return target(text, length);
}
