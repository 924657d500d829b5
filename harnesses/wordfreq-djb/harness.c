// Word frequency with D. J. Bernstein's string hash, which looks at every character of a word. See README.md.
#include "../common/word_frequency.h"

static uint32_t djb_hash(const char *word, size_t length) {
  uint32_t hash = 5381;
  for (size_t i = 0; i < length; ++i) hash = hash * 33 + (unsigned char)word[i];
  return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  count_words(data, size, djb_hash);
  return 0;
}
