/* Harness that crashes behind one comparison, the kind of which is CASE. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 1
#define BIG_ENDIAN_MAGIC 2
#define KEYWORD 3
#define SWITCH 4
#define WIDENED 5
#define MEMORY 6
#define UNTERMINATED 7
#define FLOAT 8
#define DIGITS 9
#define HEXADECIMAL 10
#define CHECKSUM 11
#define TWO_CHECKSUMS 12
#define BEHIND_CHECKSUM 13

static volatile int sink;

#if CASE == CHECKSUM || CASE == TWO_CHECKSUMS || CASE == BEHIND_CHECKSUM
static uint32_t checksum(const uint8_t *bytes, size_t size) {
  uint32_t sum = 1;
  for (size_t i = 0; i < size; i++)
    sum = (sum ^ bytes[i]) * 0x01000193u;
  return sum;
}

static void check(const uint8_t *data, size_t size) {
  /* in big-endian order, of what is behind it */
  uint32_t first = (uint32_t)data[5] << 24 | (uint32_t)data[6] << 16 | (uint32_t)data[7] << 8 | data[8];
  if (first != checksum(data + 16, size - 16))
    return;
#if CASE == BEHIND_CHECKSUM
  /* a branch of its own */
  sink = 4;
  /* one after the other, each with another checksum */
  if (data[20] < 128)
    return;
  sink = 1;
  if (data[21] < 128)
    return;
  sink = 2;
  if (data[22] < 128)
    return;
  sink = 3;
  if (data[23] < 128)
    return;
#endif
  /* in the other one, of half of that */
  uint32_t second;
  memcpy(&second, data + 9, sizeof second);
  if (CASE != TWO_CHECKSUMS || second == checksum(data + 24, size - 24))
    abort();
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 24)
    return 0;
  const uint8_t *at = data + 5;
#if CASE == MAGIC
  uint32_t word;
  memcpy(&word, at, sizeof word);
  if (word == 0x89adf00d)
    abort();
#elif CASE == BIG_ENDIAN_MAGIC
  uint32_t word = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
  if (word == 0x49484452)
    abort();
#elif CASE == KEYWORD
  char word[16];
  size_t length = 0;
  while (length < sizeof word - 1 && at + length < data + size && at[length] > ' ') {
    word[length] = (char)at[length];
    length++;
  }
  word[length] = 0;
  if (strcmp(word, "ENTITIES") == 0)
    abort();
#elif CASE == SWITCH
  uint32_t word;
  memcpy(&word, at, sizeof word);
  switch (word) {
  case 0x70616564:
    sink = 1;
    break;
  case 0x10203040:
    sink = 2;
    break;
  case 0xcafebabe:
    abort();
  case 0x7fffffff:
    sink = 4;
    break;
  }
#elif CASE == WIDENED
  uint64_t length = (uint64_t)at[0] << 8 | at[1];
  if (length == 0xbeef)
    abort();
#elif CASE == MEMORY
  if (memcmp(at, "\x7f" "ELF\2\1", 6) == 0)
    abort();
#elif CASE == UNTERMINATED
  /* no zero byte ends it */
  if (strncmp((const char *)data + size - 3, "keyword", 7) == 0)
    abort();
#elif CASE == FLOAT
  double number;
  memcpy(&number, at, sizeof number);
  if (number == 1234.5678)
    abort();
#elif CASE == DIGITS || CASE == HEXADECIMAL
  uint32_t base = CASE == DIGITS ? 10 : 16, number = 0;
  for (size_t i = 16; i < size && data[i] >= '0' && data[i] <= '9' + (base - 10) * 9; i++)
    number = number * base + (data[i] <= '9' ? data[i] - '0' : (data[i] & 7u) + 9);
  if (number == 0x00beef17)
    abort();
#elif CASE == CHECKSUM || CASE == TWO_CHECKSUMS || CASE == BEHIND_CHECKSUM
  check(data, size);
#endif
  return 0;
}

#ifdef PROGRAM
#include <stdio.h>

int main(void) {
  uint8_t input[4096];
  return LLVMFuzzerTestOneInput(input, fread(input, 1, sizeof input, stdin));
}
#endif
