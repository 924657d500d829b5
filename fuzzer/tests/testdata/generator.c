// A generator in front of letters.c. It draws how to end, how much to do, and letters.
#include <quagmire/draws.h>

#include <stdio.h>
#include <stdlib.h>

#ifdef UNKNOWN
void nowhere(void);
#endif

static __attribute__((noinline)) void work(unsigned rounds) {
  char *volatile block = malloc(rounds);
  for (unsigned i = 0; i < rounds; i++)
    block[i] = (char)i;
  free(block);
}

static __attribute__((noinline)) unsigned descend(unsigned depth) {
  volatile char frame[64] = {0};
  return depth > 0 ? descend(depth - 1) + (unsigned)frame[depth % 64] : 0;
}

static __attribute__((noinline)) char letter(qgm_src *s) { return "abc"[qgm_pick(s, 3)]; }

size_t qgm_generate(const uint8_t *data, size_t size, uint8_t *out, size_t max) {
  qgm_src s = qgm_from(data, size);
  switch (qgm_int(&s, 0, 255)) {
  case 250: return (size_t)-1;
  case 251: return max + 1;
  case 252: out[max] = 'x'; break;
  case 253: for (;;);
  case 254: abort();
  case 255: exit(3);
  }
  unsigned rounds = (unsigned)qgm_int(&s, 0, 65535);
  work(rounds);
  descend(rounds / 64);
#ifdef UNKNOWN
  nowhere();
#endif
  size_t length = 0;
  while (length < max && qgm_flip(&s))
    out[length++] = (uint8_t)letter(&s);
  return length;
}
