/* Interns the words of the input. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libwapcaplet/libwapcaplet.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lwc_string **words = malloc((size + 1) * sizeof *words);
  size_t count = 0;
  for (size_t at = 0; at < size;) {
    const uint8_t *end = memchr(data + at, '\n', size - at);
    size_t stop = end ? (size_t)(end - data) : size;
    if (lwc_intern_string((const char *)data + at, stop - at, &words[count]) == lwc_error_ok)
      count++;
    at = stop + 1;
  }
  while (count > 0)
    lwc_string_unref(words[--count]);
  free(words);
  return 0;
}
