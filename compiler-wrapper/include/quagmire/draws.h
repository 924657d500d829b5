/* Draws values from the input of a fuzz target, for generators in C: header-only, C99 and up, C++ too. The encoding is that of
   fuzzer/FuzzedDataProvider.h: inputs can be exchanged, and harnesses run under any fuzzer. When quagmire runs the target, it
   sees every draw.

     qgm_src s = qgm_from(data, size);
     for (int more = qgm_flip(&s); more; more = qgm_flip(&s))
       add(tree, qgm_int(&s, 0, 99));

   Numbers take bytes from the back of the input, text and bytes from the front. Where nothing is left, numbers are the smallest
   ones, and text is empty. */
#ifndef QUAGMIRE_DRAWS_H
#define QUAGMIRE_DRAWS_H

#include "draw_hooks.h"

#include <stdlib.h>
#include <string.h>

/* Mark by which quagmire knows before the first run that there may be draws. */
#if defined(__ELF__)
__attribute__((used, section("qgm_draws"))) static const char qgm_draws_are_here = 1;
#endif

#if defined(__GNUC__)
#define QGM_DRAWS_OF_FILE static __attribute__((unused)) QGM_DRAWS
#define QGM_PART_OF_DRAWS static inline QGM_IN_DRAWS
#else
#define QGM_DRAWS_OF_FILE static
#define QGM_PART_OF_DRAWS static inline
#endif

/* Rest of an input. */
typedef struct qgm_src {
  const uint8_t *front;
  size_t left;
} qgm_src;

/* Begins to draw from an input, which has to stay where it is. */
QGM_PART_OF_DRAWS qgm_src qgm_from(const uint8_t *data, size_t size) {
  qgm_src source;
  source.front = data;
  source.left = size;
  return source;
}

/* Number of bytes of a number up to `range`, as far as they are left. */
QGM_PART_OF_DRAWS size_t qgm_number_bytes_(const qgm_src *s, uint64_t range) {
  size_t bytes = 0;
  while (bytes < 8 && bytes < s->left && (range >> (8 * bytes)) > 0)
    bytes++;
  return bytes;
}

/* A number up to `range`. */
QGM_PART_OF_DRAWS uint64_t qgm_number_(qgm_src *s, uint64_t range) {
  uint64_t number = 0;
  size_t bytes = qgm_number_bytes_(s, range);
  while (bytes-- > 0)
    number = number << 8 | s->front[--s->left];
  return range == UINT64_MAX ? number : number % (range + 1);
}

/* A number from `low` to `high`, both included: ConsumeIntegralInRange<int64_t>. */
QGM_DRAWS_OF_FILE int64_t qgm_int(qgm_src *s, int64_t low, int64_t high) {
  uint64_t range = (uint64_t)high - (uint64_t)low, number;
  if (low > high)
    abort();
  QGM_BEGIN_DRAW(QGM_DRAW_INTEGER, s->front, s->left, range, qgm_number_bytes_(s, range));
  number = qgm_number_(s, range);
  QGM_END_DRAW(s->front, s->left, number);
  return (int64_t)((uint64_t)low + number);
}

/* 0 or 1: ConsumeBool. */
QGM_DRAWS_OF_FILE int qgm_flip(qgm_src *s) {
  uint64_t number;
  QGM_BEGIN_DRAW(QGM_DRAW_FLIP, s->front, s->left, 1, s->left > 0);
  number = qgm_number_(s, 255) & 1;
  QGM_END_DRAW(s->front, s->left, number);
  return (int)number;
}

/* One of `n`, from 0 on: PickValueInArray. 0 if n is 0. */
QGM_DRAWS_OF_FILE size_t qgm_pick(qgm_src *s, size_t n) {
  uint64_t last = n > 0 ? n - 1 : 0, number;
  QGM_BEGIN_DRAW(QGM_DRAW_PICK, s->front, s->left, last, qgm_number_bytes_(s, last));
  number = qgm_number_(s, last);
  QGM_END_DRAW(s->front, s->left, number);
  return (size_t)number;
}

/* A number from 0.0 to 1.0: ConsumeProbability<double>. */
QGM_DRAWS_OF_FILE double qgm_real(qgm_src *s) {
  uint64_t number;
  QGM_BEGIN_DRAW(QGM_DRAW_REAL, s->front, s->left, UINT64_MAX, qgm_number_bytes_(s, UINT64_MAX));
  number = qgm_number_(s, UINT64_MAX);
  QGM_END_DRAW(s->front, s->left, 0);
  return (double)number / (double)UINT64_MAX;
}

/* Stores at most `n` bytes, and returns how many: ConsumeData. */
QGM_DRAWS_OF_FILE size_t qgm_bytes(qgm_src *s, void *buffer, size_t n) {
  size_t taken = n < s->left ? n : s->left;
  QGM_BEGIN_DRAW(QGM_DRAW_BYTES, s->front, s->left, n, 0);
  if (taken > 0)
    memcpy(buffer, s->front, taken);
  s->front += taken;
  s->left -= taken;
  QGM_END_DRAW(s->front, s->left, 0);
  return taken;
}

/* Stores text of at most `max` characters and a zero byte behind it, for which `buffer` has room, and returns its length. It
   ends where a backslash is followed by something else than a backslash; two backslashes are one character:
   ConsumeRandomLengthString. There may be zero bytes in it. */
QGM_DRAWS_OF_FILE size_t qgm_text(qgm_src *s, char *buffer, size_t max) {
  size_t length = 0;
  QGM_BEGIN_DRAW(QGM_DRAW_TEXT, s->front, s->left, max, 0);
  while (length < max && s->left > 0) {
    char next = (char)*s->front++;
    s->left--;
    if (next == '\\' && s->left > 0) {
      next = (char)*s->front++;
      s->left--;
      if (next != '\\')
        break;
    }
    buffer[length++] = next;
  }
  buffer[length] = 0;
  QGM_END_DRAW(s->front, s->left, 0);
  return length;
}

/* Begins a part of what is generated, such as an expression or a statement, so that parts of the same name can stand for each
   other. Without it, quagmire finds parts by the functions and loops that draw. */
QGM_DRAWS_OF_FILE void qgm_open(qgm_src *s, const char *name) {
  uint64_t hash = 0xcbf29ce484222325u;
  if (QGM_DRAWS_ARE_WANTED)
    for (; *name; name++)
      hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
  QGM_BEGIN_DRAW(QGM_DRAW_OPEN, s->front, s->left, hash, 0);
  QGM_END_DRAW(s->front, s->left, 0);
}

/* Ends the part that was begun last. */
QGM_DRAWS_OF_FILE void qgm_close(qgm_src *s) {
  QGM_BEGIN_DRAW(QGM_DRAW_CLOSE, s->front, s->left, 0, 0);
  QGM_END_DRAW(s->front, s->left, 0);
}

/* Function that a generator in front of a program defines, in a shared object of its own (`quagmire fuzz --generator gen.so`): makes an
   input of the program from the `size` bytes at `data`, stores it at `out`, which has room for `max` bytes, and returns its
   length. (size_t)-1 is returned for inputs that are to be given to no program, and never kept. */
#ifdef __cplusplus
extern "C"
#endif
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
size_t qgm_generate(const uint8_t *data, size_t size, uint8_t *out, size_t max);

/* Says that the input of the program proper is complete: what is executed and allocated before the first call in a run does not
   count. Does nothing under other fuzzers. */
QGM_PART_OF_DRAWS void qgm_generated(const void *buffer, size_t size) {
#if defined(__GNUC__)
  if (&__quagmire_draw_hooks)
    __quagmire_draw_hooks.generated(buffer, size);
#else
  (void)buffer, (void)size;
#endif
}

#endif
