/* Comparisons of every shape. Each function answers whether the input is right. Prints `NAME SLOTS: HITS...`, its slots, and
   how many of them inputs with 0, 1, 2, ... right bytes hit beyond those of one without any; and at the end how many
   instructions all that was. */
#include "slots.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SHAPE __attribute__((noinline)) static int
static volatile int sink;

SHAPE little32(const unsigned char *p) {
  uint32_t v;
  memcpy(&v, p, 4);
  return v == 0x44434241 ? ++sink : 0;
}
SHAPE little64(const unsigned char *p) {
  uint64_t v;
  memcpy(&v, p, 8);
  return v != 0x4847464544434241 ? 0 : ++sink;
}
SHAPE little16(const unsigned char *p) {
  uint16_t v;
  memcpy(&v, p, 2);
  return v == 0x4241 ? ++sink : 0;
}
SHAPE big32(const unsigned char *p) {
  uint32_t v = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
  return v == 0x41424344 ? ++sink : 0;
}
/* one branch for three bytes, but at -O0 */
SHAPE folded(const unsigned char *p) {
  unsigned char a = p[0], b = p[1], c = p[2];
  return a == 'A' && b == 'B' && c == 'C' ? ++sink : 0;
}
SHAPE cases(const unsigned char *p) {
  uint32_t v;
  memcpy(&v, p, 4);
  switch (v) {
  case 0x44434241: return ++sink;
  case 0x99989796: return sink += 5;
  case 7: return sink += 7;
  case 9: return sink -= 3;
  default: return 0;
  }
}
SHAPE memory(const unsigned char *p) { return memcmp(p, "ABCDEFGHI", 9) == 0 ? ++sink : 0; }
SHAPE memory_is_less(const unsigned char *p) { return memcmp(p, "ABCDEFGHI", 9) < 0 ? ++sink : 0; }
SHAPE no_constant(const unsigned char *p) {
  volatile size_t size = 9;
  char copy[9];
  memcpy(copy, "ABCDEFGHI", size);
  char *volatile hidden = copy;
  return memcmp(hidden, p, size) == 0 ? ++sink : 0;
}
SHAPE text(const unsigned char *p) { return strcmp("ABCDEFGHI", (const char *)p) == 0 ? ++sink : 0; }
SHAPE some_text(const unsigned char *p) { return strncmp((const char *)p, "ABCDEFGHIJKL", 5) == 0 ? ++sink : 0; }
SHAPE folded_text(const unsigned char *p) { return strcasecmp((const char *)p, "aBcDeFgHi") == 0 ? ++sink : 0; }
SHAPE some_folded_text(const unsigned char *p) { return strncasecmp((const char *)p, "abcdefghi", 5) == 0 ? ++sink : 0; }

/* as in libraries */
#define LIBRARY __attribute__((noinline)) int
LIBRARY xmlStrEqual(const unsigned char *a, const unsigned char *b) {
  return a && b && strcmp((const char *)a, (const char *)b) == 0;
}
LIBRARY xmlStrncmp(const unsigned char *a, const unsigned char *b, int length) {
  return length <= 0 || !a || !b ? 0 : strncmp((const char *)a, (const char *)b, (size_t)length);
}
SHAPE library(const unsigned char *p) { return xmlStrEqual(p, (const unsigned char *)"ABCDEFGHI"); }
SHAPE some_of_library(const unsigned char *p) { return xmlStrncmp(p, (const unsigned char *)"ABCDEFGHI", 4) == 0; }
SHAPE nothing(const unsigned char *p) {
  volatile int none = 0, below = -1;
  xmlStrEqual(NULL, p);
  return xmlStrncmp(p, (const unsigned char *)"ABC", none) + xmlStrncmp(p, (const unsigned char *)"ABC", below);
}

/* no slots */
SHAPE small(const unsigned char *p) {
  volatile uint32_t v = p[0];
  return v == 0x41 || v == (uint32_t)-3 ? ++sink : 0;
}
SHAPE one_block(const unsigned char *p) {
  uint32_t a, b;
  memcpy(&a, p, 4);
  memcpy(&b, p + 4, 4);
  return a < b;
}
SHAPE counter(const unsigned char *p) {
  for (int i = p[0] & 1; i != 1000; i++)
    sink += i;
  return 0;
}

static const struct {
  const char *name;
  int (*shape)(const unsigned char *);
} shapes[] = {
#define OF(NAME) {#NAME, NAME}
    OF(little32), OF(little64),  OF(little16),    OF(big32),            OF(folded),  OF(cases),           OF(memory),
    OF(text),     OF(some_text), OF(folded_text), OF(some_folded_text), OF(library), OF(some_of_library), OF(nothing),
    OF(small),    OF(counter),   OF(no_constant), OF(memory_is_less),  OF(one_block),
};

OUTSIDE void look(void) {
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    printf("%s %u:", shapes[s].name, found((void *)shapes[s].shape)->progress);
    unsigned without = 0;
    for (size_t right = 0; right <= 9; right++) {
      unsigned char input[10] = {0};
      memset(input, '-', 9);
      memcpy(input, "ABCDEFGHI", right);
      clear_slots((void *)shapes[s].shape);
      /* a slot says whether, not how often */
      for (int times = 0; times < 3; times++)
        shapes[s].shape(input);
      unsigned hit = slots_hit((void *)shapes[s].shape);
      without = right == 0 ? hit : without;
      printf(" %u", hit - without);
    }
    printf("\n");
  }
  printf("instructions: %llu\n", (unsigned long long)instructions());
}

int main(void) {
  look();
  return 0;
}
