// Counts lines, words and bytes, as wc does: every byte once.
#include <stddef.h>
#include <stdint.h>

static volatile size_t lines, words;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t seen_lines = 0, seen_words = 0;
  int in_word = 0;
  for (size_t i = 0; i < size; ++i) {
    int is_space = data[i] == ' ' || (data[i] >= '\t' && data[i] <= '\r');
    seen_lines += data[i] == '\n';
    seen_words += !is_space && !in_word;
    in_word = !is_space;
  }
  lines = seen_lines;
  words = seen_words;
  return 0;
}
