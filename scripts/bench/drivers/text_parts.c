/* Texts in binary shells: lines, or names in JSON, that are compared with all different ones before: quadratic.
   SHELL 1: four bytes of options before the lines. 2: four behind them, as FuzzedDataProvider reads numbers.
   3: a header of twelve bytes with the length of the lines. 4: two bytes before JSON. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static volatile unsigned compared;
static const uint8_t *known[4096];
static size_t lengths[4096], number;

static void see(const uint8_t *word, size_t length) {
  for (size_t i = 0; i < number; i++) {
    compared++;
    if (lengths[i] == length && memcmp(known[i], word, length) == 0)
      return;
  }
  if (number < 4096) {
    known[number] = word;
    lengths[number++] = length;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *end = data + size;
  number = 0;
#if SHELL == 2
  if (size < 4 || end[-1] > 3)
    return 0;
  end -= 4;
#elif SHELL == 3
  uint32_t length;
  if (size < 12 || memcmp(data, "QTP1", 4) != 0)
    return 0;
  memcpy(&length, data + 4, 4);
  data += 12;
  if (length < (size_t)(end - data))
    end = data + length;
#else
  size_t options = SHELL == 1 ? 4 : 2;
  if (size < options || data[0] > 3)
    return 0;
  data += options;
#endif
#if SHELL == 4
  if (data == end || *data != '{')
    return 0;
  while (data < end) {
    const uint8_t *open = memchr(data, '"', end - data);
    const uint8_t *close = open ? memchr(open + 1, '"', end - open - 1) : NULL;
    if (!close)
      break;
    if (close + 1 < end && close[1] == ':')
      see(open + 1, close - open - 1);
    data = close + 1;
  }
#else
  while (data < end) {
    const uint8_t *newline = memchr(data, '\n', end - data);
    const uint8_t *stop = newline ? newline : end;
    see(data, stop - data);
    data = stop + 1;
  }
#endif
  return 0;
}
