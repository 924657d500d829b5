/* Linked into every executable: how far a comparison of memory or strings gets, for code that was compiled with
   QUAGMIRE_COMPARES=1. The pass calls it before memcmp and its like (see passes/compares.h). */
#include "comparisons.h"

/* Only harnesses record comparisons. */
#pragma weak __quagmire_recording
#pragma weak __quagmire_compared_memory
#pragma weak __quagmire_compared_strings

/* Sets slots[k] for every k below `number` and the length of what `a` and `b` have in common at their start, looking at
   `most` bytes at most. Reads no byte that the comparison itself would not read. */
void __quagmire_compare(const void *a, const void *b, size_t most, uint32_t *slots, unsigned number, int kind);

static inline unsigned char folded(unsigned char letter) {
  return letter >= 'A' && letter <= 'Z' ? (unsigned char)(letter + 32) : letter;
}

void __quagmire_compare(const void *a, const void *b, size_t most, uint32_t *slots, unsigned number, int kind) {
  const unsigned char *left = a, *right = b;
  if (!left || !right)
    return;
  /* compilers put short comparisons in the place of the call, so that the function of the C library does not see it */
  if (&__quagmire_recording && __quagmire_recording == QGM_ON) {
    if (kind & QGM_TEXT)
      __quagmire_compared_strings(slots, a, b, most, kind);
    else
      __quagmire_compared_memory(slots, a, b, most);
  }
  if (most > number)
    most = number;
  for (size_t i = 0; i < most; i++) {
    unsigned char l = left[i], r = right[i];
    if (l != r && !((kind & QGM_FOLD) && folded(l) == folded(r)))
      return;
    if ((kind & QGM_TEXT) && l == 0)
      return;
    slots[i] = 1;
  }
}
