// Costs by the first byte: `q` compares all pairs of brackets behind it, `c` those among the first 300, `d` calls itself for
// each, with much stack, `h` does not return from more than 2,000. `p` is a picture: columns and rows in two bytes each, the highest
// first, and a side of more than 20,000 is refused; `x` compares as many pairs as the decimal number behind it says; `t` goes through the
// first line for each `;` behind it.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static volatile unsigned seen;

__attribute__((noinline)) static void compare_pairs(size_t brackets) {
  for (size_t i = 0; i < brackets; i++) {
    for (size_t j = 0; j < i; j++) seen += i ^ j;
  }
}

__attribute__((noinline)) static void descend(size_t levels) {
  volatile char block[2048];
  block[0] = 1;
  if (levels > 0) descend(levels - 1);
  seen += block[0];
}

__attribute__((noinline)) static void read_line(const uint8_t *line, const uint8_t *end) {
  while (line < end && *line != '\n') seen += *line++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  size_t brackets = 0;
  for (size_t i = 1; i < size; i++) brackets += data[i] == '[';
  if (data[0] == 'q') compare_pairs(brackets);
  if (data[0] == 'c') compare_pairs(brackets < 300 ? brackets : 300);
  if (data[0] == 'd') descend(brackets);
  if (data[0] == 'p' && size > 8) {
    unsigned columns = data[5] << 8 | data[6], rows = data[7] << 8 | data[8];
    if (columns > 20000 || rows > 20000) return -1;
    for (unsigned y = 0; y < rows; y++) {
      for (unsigned x = 0; x < columns; x++) seen += x ^ y;
    }
  }
  if (data[0] == 'x' && size < 20) {
    char text[20] = "";
    for (size_t i = 1; i < size; i++) text[i - 1] = (char)data[i];
    compare_pairs(strtoul(text, NULL, 10));
  }
  if (data[0] == 'l') {
    if (size < 4 || (size_t)(data[1] << 16 | data[2] << 8 | data[3]) != size - 4) return -1;
    compare_pairs((size - 4) / 8);
  }
  if (data[0] == 't') {
    for (size_t i = 1; i < size; i++) {
      if (data[i] == ';') read_line(data, data + i);
    }
  }
  if (data[0] == 's') compare_pairs(400);
  while (data[0] == 'h' && brackets > 2000) seen++;
  return 0;
}
