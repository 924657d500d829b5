// Takes records with a checksum, and brings a mutator that knows it. HOW says what the mutator does besides.
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS, PATTERN, NESTED, CRASHES, CRASHES_AT_TIMES, EXITS, HANGS, NOTHING, TOO_LONG, OVERFLOWS, COUNTED };
#ifndef HOW
#define HOW RECORDS
#endif

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

volatile unsigned sink;

// A record is the checksum of its text, four bytes, and the text.
static uint32_t checksum(const uint8_t *text, size_t size) {
  uint32_t sum = 2166136261u;
  for (size_t i = 0; i < size; i++)
    sum = (sum ^ text[i]) * 16777619u;
  return sum;
}

__attribute__((noinline)) static void accept_text(const uint8_t *text, size_t size) {
  // slower the more letters x it has
  for (size_t i = 0; i < size; i++)
    if (text[i] == 'x')
      for (size_t j = 0; j < size; j++)
        sink += text[j];
  if (size > 6)
    sink++;
}

__attribute__((noinline)) static void by_mutator_only(void) {
  for (unsigned i = 0; i < 50000; i++)
    sink += i;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t sum;
  if (size < sizeof sum)
    return 0;
  memcpy(&sum, data, sizeof sum);
  if (sum == checksum(data + sizeof sum, size - sizeof sum))
    accept_text(data + sizeof sum, size - sizeof sum);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  static unsigned calls;
  uint8_t *text = data + 4;
  if (HOW == NOTHING)
    return 0;
  if (HOW == CRASHES || (HOW == CRASHES_AT_TIMES && seed % 16 == 0))
    raise(SIGSEGV);
  if (HOW == EXITS)
    exit(7);
  if (HOW == HANGS && seed % 64 == 0)
    for (;;)
      LLVMFuzzerMutate(data, size, max_size);
  if (HOW == TOO_LONG) {
    memset(data, 'y', max_size);
    return max_size + 1000 + calls++;
  }
  if (HOW == OVERFLOWS)
    memset(data, 'y', max_size + 100);
  if (HOW == PATTERN) {
    memcpy(data, "pattern!", max_size < 8 ? max_size : 8);
    data[max_size < 8 ? 0 : 7] = (uint8_t)('0' + seed % 10);
    return max_size < 8 ? max_size : 8;
  }
  if (HOW == COUNTED)
    by_mutator_only();
  if (max_size < 5)
    return 0;
  size_t length = size < 4 ? 0 : size - 4;
  length = LLVMFuzzerMutate(text, length, max_size - 4);
  if (HOW == NESTED)
    for (unsigned i = 0; i < 1 + seed % 3; i++) {
      // a field of the text, which never vanishes
      size_t half = (length + 1) / 2;
      if (LLVMFuzzerMutate(text, half, half) == 0)
        abort();
    }
  uint32_t sum = checksum(text, length);
  memcpy(data, &sum, sizeof sum);
  return 4 + length;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second, size_t second_size,
                                 uint8_t *out, size_t max_size, unsigned seed) {
  if (first_size < 4 || second_size < 4 || max_size < 5 || HOW != RECORDS)
    return 0;
  size_t length = (first_size - 4) / 2 + (second_size - 4) / 2, half = (first_size - 4) / 2;
  if (length == 0 || length + 4 > max_size)
    return 0;
  memcpy(out + 4, first + 4, half);
  memcpy(out + 4 + half, second + 4, length - half);
  out[4 + seed % length] ^= 1;
  uint32_t sum = checksum(out + 4, length);
  memcpy(out, &sum, sizeof sum);
  return 4 + length;
}
