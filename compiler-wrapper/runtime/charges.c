/* Linked into every executable: how much two pieces of memory have in common, for the costs of comparisons by the C library
   (see passes/library_costs.h). The pass calls it behind memcmp and its like. */
#include "comparisons.h"

/* Number of equal bytes at the start of `a` and `b`, `most` at most; of strings, the zero byte that ends them is not
   counted. `kind` consists of bits of enum qgm_compared. Reads no page that the comparison itself did not read. */
size_t __quagmire_common(const void *a, const void *b, size_t most, unsigned kind);

/* Whether 8 bytes from there on are on one page. */
static inline int on_one_page(const unsigned char *at) { return (uintptr_t)at % QGM_SMALLEST_PAGE <= QGM_SMALLEST_PAGE - sizeof(uint64_t); }

static inline int has_zero_byte(uint64_t word) {
  return ((word - 0x0101010101010101u) & ~word & 0x8080808080808080u) != 0;
}

size_t __quagmire_common(const void *a, const void *b, size_t most, unsigned kind) {
  const unsigned char *left = a, *right = b;
  size_t at = 0;
  while (at < most) {
    uint64_t l, r;
    /* eight at a time, as long as they are equal and no end is among them */
    while (most - at >= sizeof l && on_one_page(left + at) && on_one_page(right + at)) {
      __builtin_memcpy(&l, left + at, sizeof l);
      __builtin_memcpy(&r, right + at, sizeof r);
      if (l != r || ((kind & QGM_TEXT) && has_zero_byte(l)))
        break;
      at += sizeof l;
    }
    if (at == most)
      break;
    unsigned char one = left[at], other = right[at];
    if ((one != other && folded(one, kind) != folded(other, kind)) || ((kind & QGM_TEXT) && one == 0))
      break;
    at++;
  }
  return at;
}
