// What the programs share. A source holds several: a file runs the one that it is named after.
#ifndef QUAGMIRE_LAWS_H
#define QUAGMIRE_LAWS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The program that runs: the one that the file is named after, by a link.
static void (*program)(const uint8_t *, size_t);
static int (*parser)(const uint8_t *, size_t);

static int is_named(const char *name) {
  char path[4096];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  path[size < 0 ? 0 : size] = 0;
  const char *end = strrchr(path, '/');
  return end && strcmp(end + 1, name) == 0;
}

#define CHOICE(name, kind, result)                               \
  static result name(const uint8_t *data, size_t size);          \
  __attribute__((constructor)) static void choose_##name(void) { \
    if (is_named(#name)) kind = name;                            \
  }                                                              \
  static result name(const uint8_t *data, size_t size)

#define PROGRAM(name) CHOICE(name, program, void)

// Returns -1 for an input that it does not accept, as a harness may.
#define PARSER(name) CHOICE(name, parser, int)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (parser) return parser(data, size);
  if (!program) abort();
  program(data, size);
  return 0;
}

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

// `size` bytes, compared one by one: memcmp would not be counted.
static inline int same_bytes(const uint8_t *a, const uint8_t *b, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return 0;
  }
  return 1;
}

// A number of `size` bytes, the highest first.
static inline uint64_t big_endian(const uint8_t *data, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | data[i];
  return value;
}

static inline uint64_t little_endian(const uint8_t *data, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | data[i];
  return value;
}

// A part of an input.
struct part {
  const uint8_t *data;
  size_t size;
};

static inline int same_parts(struct part a, struct part b) { return a.size == b.size && same_bytes(a.data, b.data, a.size); }

// Looks for `part` among the first `count`, from the first on. Returns its place, or `count`.
static inline size_t find_part(const struct part *parts, size_t count, struct part part) {
  size_t at = 0;
  while (at < count && !same_parts(parts[at], part)) ++at;
  return at;
}

// What `text` begins with, up to the first of `ends` or its own end; `text` is what comes behind, without what ended it.
static inline struct part take_until(struct part *text, const char *ends) {
  struct part taken = {text->data, 0};
  for (; taken.size < text->size; ++taken.size) {
    const char *end = ends;
    while (*end && (uint8_t)*end != taken.data[taken.size]) ++end;
    if (*end) break;
  }
  size_t used = taken.size < text->size ? taken.size + 1 : taken.size;
  text->data += used, text->size -= used;
  return taken;
}

#endif
