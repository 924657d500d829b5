// Four bytes of options, then lines, each compared with all different ones before: quadratic in their number, or
// linear with -DMOST=8: as many are remembered.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef MOST
#define MOST 4096
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t *known[MOST];
  static size_t lengths[MOST];
  static volatile unsigned compared;
  const uint8_t *end = data + size;
  if (size < 4 || data[0] > 3)
    return 0;
  size_t number = 0;
  for (data += 4; data < end; data++) {
    const uint8_t *newline = memchr(data, '\n', end - data);
    size_t length = (newline ? newline : end) - data, at = 0;
    for (; at < number && (lengths[at] != length || memcmp(known[at], data, length) != 0); at++)
      compared++;
    if (at == number && number < MOST) {
      known[number] = data;
      lengths[number++] = length;
    }
    data += length;
  }
  return 0;
}
