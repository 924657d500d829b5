// What the programs share. A file holds several; -DPROGRAM=name chooses the one that runs.
#ifndef QUAGMIRE_LAWS_H
#define QUAGMIRE_LAWS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define PROGRAM_FUNCTION __attribute__((unused)) static void

typedef void program(const uint8_t *data, size_t size);

// What was computed goes here: the work must not be optimised away.
static volatile uint64_t kept;

// A step that depends on the one before: nothing to vectorise, no formula for a loop of them.
static inline uint64_t stir(uint64_t state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^ state << 17;
}

// Keys of four bytes, the highest first.
enum { KEY = 4 };

static inline uint32_t key_at(const uint8_t *data, size_t at) {
  const uint8_t *bytes = data + at * KEY;
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline uint32_t *keys_of(const uint8_t *data, size_t size, size_t *count) {
  *count = size / KEY;
  uint32_t *keys = malloc((*count + 1) * sizeof *keys);
  for (size_t i = 0; keys && i < *count; ++i) keys[i] = key_at(data, i);
  return keys;
}

#define RUN(name)                                                     \
  int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {     \
    name(data, size);                                                \
    return 0;                                                        \
  }

#endif
