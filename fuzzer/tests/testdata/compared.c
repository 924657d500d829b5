// A program with builds to compare: each macro makes it worse in its own way.
//   ROUNDS     work for each byte in weigh: 10 unless given
//   QUADRATIC  distinct looks through all bytes before each
//   CRASHES, HANGS  on inputs that begin with '!', '?'
//   LENGTH     only inputs whose first two bytes are their length are looked at
//   UNSTABLE   each run costs more than the one before
#include <stddef.h>
#include <stdint.h>

#ifndef ROUNDS
#define ROUNDS 10
#endif

__attribute__((noinline)) static unsigned weigh(const uint8_t *data, size_t size) {
  unsigned sum = 0;
  for (size_t i = 0; i < size; i++)
    for (unsigned round = 0; round < ROUNDS; round++)
      sum = sum * 31 + (data[i] ^ round);
  return sum;
}

__attribute__((noinline)) static unsigned distinct(const uint8_t *data, size_t size) {
  unsigned found = 0;
#ifdef QUADRATIC
  for (size_t i = 0; i < size; i++) {
    int is_new = 1;
    for (size_t j = 0; j < i; j++)
      is_new &= data[j] != data[i];
    found += is_new;
  }
#else
  uint8_t known[256] = {0};
  for (size_t i = 0; i < size; i++) {
    found += !known[data[i]];
    known[data[i]] = 1;
  }
#endif
  return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile unsigned result;
#ifdef LENGTH
  if (size < 2 || data[0] + 256u * data[1] != size)
    return 0;
#endif
#ifdef CRASHES
  if (size && data[0] == '!')
    __builtin_trap();
#endif
#ifdef HANGS
  if (size && data[0] == '?')
    for (;;)
      result++;
#endif
#ifdef UNSTABLE
  static unsigned runs;
  for (unsigned i = 0; i < runs; i++)
    result++;
  runs++;
#endif
  result = weigh(data, size) + distinct(data, size);
  return 0;
}
