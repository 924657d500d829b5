// Records of eight bytes, all pairs of which are looked at, if the fields around them are right. By the first byte:
// C: a hexadecimal text with the length, lines with a return, and an empty chunk; W: the length in words of four bytes
// O: the place of a table behind the records; S: a length, and a sum behind the records; A: the address of the end
// M: a number of records, of four bytes here, and their length; x: a checksum that nobody knows
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static volatile size_t sink;

__attribute__((noinline)) static void compare_pairs(size_t records) {
  for (size_t i = 0; i < records; i++)
    for (size_t j = 0; j < i; j++)
      sink += i ^ j;
}

static size_t number(const uint8_t *data, size_t width) {
  size_t value = 0;
  while (width-- > 0)
    value = value << 8 | *data++;
  return value;
}

static int chunk(const uint8_t *data, size_t size) {
  size_t at = 1, length = 0;
  for (; at < size && data[at] != '\r'; at++) {
    const char *digits = "0123456789abcdef", *digit = data[at] ? strchr(digits, data[at]) : NULL;
    if (!digit || length > 1 << 20)
      return -1;
    length = 16 * length + (size_t)(digit - digits);
  }
  if (at + 2 + length + 7 != size || memcmp(data + size - 7, "\r\n0\r\n\r\n", 7))
    return -1;
  compare_pairs(length / 8);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 14)
    return -1;
  size_t sum = 0, end = number(data + 4, 4);
  switch (data[0]) {
  case 'C':
    return chunk(data, size);
  case 'W':
    if (4 * number(data + 2, 2) != size - 4)
      return -1;
    compare_pairs((size - 4) / 8);
    return 0;
  case 'O':
    if (end < 8 || end + 12 != size || memcmp(data + end, "table", 5))
      return -1;
    compare_pairs((end - 8) / 8);
    return 0;
  case 'S':
    for (size_t i = 4; i < size - 2; i++)
      sum += data[i];
    if (number(data + 2, 2) != size - 6 || number(data + size - 2, 2) != (sum & 0xffff))
      return -1;
    compare_pairs((size - 6) / 8);
    return 0;
  case 'A':
    if (end != 0x401000 + size)
      return -1;
    compare_pairs((size - 8) / 8);
    return 0;
  case 'M':
    if (4 * number(data + 1, 2) != size - 6 || number(data + 3, 3) != size - 6)
      return -1;
    compare_pairs((size - 6) / 4);
    return 0;
  case 'x':
    for (size_t i = 0; i < size - 2; i++)
      sum = 31 * sum + data[i];
    if (number(data + size - 2, 2) != (sum & 0xffff))
      return -1;
    compare_pairs((size - 2) / 8);
    return 0;
  }
  return -1;
}
