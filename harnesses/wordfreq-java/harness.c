// Word frequency with the string hash of Java 1.1, which looks at few of the characters of a long word. See README.md.
#include "../common/word_frequency.h"

static uint32_t java_1_1_hash(const char *word, size_t length) {
  uint32_t hash = 0;
  if (length < 16) {
    for (size_t i = 0; i < length; ++i) hash = hash * 37 + (unsigned char)word[i];
  } else {
    size_t skip = length / 8;
    for (size_t i = 0; i < length; i += skip) hash = hash * 39 + (unsigned char)word[i];
  }
  return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  count_words(data, size, java_1_1_hash);
  return 0;
}
