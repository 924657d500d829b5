// Joins the words of a text, each at the end of a string that grows: the work is in strcat, and quadratic.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile char sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *all = malloc(2 * size + 2), word[64];
  size_t n = 0;
  all[0] = 0;
  for (size_t i = 0; i <= size; i++) {
    if (i < size && data[i] > ' ' && n < 62) {
      word[n++] = (char)data[i];
      continue;
    }
    word[n] = ';';
    word[n + 1] = 0;
    if (n)
      strcat(all, word);
    n = 0;
  }
  sink = all[size / 2];
  free(all);
  return 0;
}
