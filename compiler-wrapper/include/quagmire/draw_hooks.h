/* How fuzzer/FuzzedDataProvider.h and quagmire/draws.h tell quagmire what they take from an input. In programs that quagmire does
   not run, nothing has the hooks, and a draw costs one test. C99 and up, C++11 and up. */
#ifndef QUAGMIRE_DRAW_HOOKS_H
#define QUAGMIRE_DRAW_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of draws. */
enum qgm_draw_kind {
  QGM_DRAW_INTEGER = 0,
  QGM_DRAW_FLIP = 1,
  QGM_DRAW_PICK = 2,
  QGM_DRAW_REAL = 3,
  QGM_DRAW_TEXT = 4,  /* as much text as its contents say */
  QGM_DRAW_BYTES = 5, /* as many bytes as the caller says */
  QGM_DRAW_REST = 6,  /* all bytes that are left */
  QGM_DRAW_SIZE = 7,  /* the number of bytes that are left */
  QGM_DRAW_OPEN = 8,  /* a part begins that has a name */
  QGM_DRAW_CLOSE = 9, /* it ends */
};

/* A draw that is about to be made. */
struct qgm_draw_call {
  const void *site;     /* where it returns to */
  const void *frame;    /* of the function that makes it: an address of its stack that is the same for all of its draws */
  const uint8_t *front; /* the bytes that are left */
  size_t left;
  uint64_t range; /* largest value minus smallest; of text and bytes, how many are asked for; of a name, its hash */
  uint32_t kind;  /* enum qgm_draw_kind */
  uint32_t takes; /* number of bytes that it will take from the back */
};

/* Functions of the runtime. Another meaning would get another name. */
struct qgm_draw_hooks {
  uint64_t are_wanted; /* whether draws are to be told at all */
  void (*begin)(const struct qgm_draw_call *call);
  /* Bytes left after it, and its value minus the smallest one, if it is a number. */
  void (*end)(const uint8_t *front, size_t left, uint64_t value);
  void (*generated)(const void *bytes, size_t size);
};

#if defined(__GNUC__)
extern struct qgm_draw_hooks __quagmire_draw_hooks __attribute__((weak));
#define QGM_DRAWS_ARE_WANTED __builtin_expect(&__quagmire_draw_hooks && __quagmire_draw_hooks.are_wanted, 0)
/* Functions that make draws: calls of them can be told apart, and what they execute does not count as the target's: by the first
   attribute for SanitizerCoverage, by the second for quagmire's pass. */
#if defined(__clang__)
#define QGM_DRAWS __attribute__((noinline, no_sanitize("coverage"), no_profile_instrument_function))
#elif __GNUC__ >= 12
#define QGM_DRAWS __attribute__((noinline, no_sanitize_coverage))
#else
#define QGM_DRAWS __attribute__((noinline))
#endif
/* Functions in them. */
#define QGM_IN_DRAWS __attribute__((always_inline))
/* Tells of a draw; in a function that is QGM_DRAWS. */
#define QGM_BEGIN_DRAW(kind_, front_, left_, range_, takes_) \
  do { \
    if (QGM_DRAWS_ARE_WANTED) { \
      struct qgm_draw_call qgm_call_; \
      qgm_call_.site = __builtin_return_address(0); \
      qgm_call_.frame = __builtin_frame_address(0); \
      qgm_call_.front = (front_); \
      qgm_call_.left = (left_); \
      qgm_call_.range = (uint64_t)(range_); \
      qgm_call_.kind = (kind_); \
      qgm_call_.takes = (uint32_t)(takes_); \
      __quagmire_draw_hooks.begin(&qgm_call_); \
    } \
  } while (0)
#define QGM_END_DRAW(front_, left_, value_) \
  do { \
    if (QGM_DRAWS_ARE_WANTED) \
      __quagmire_draw_hooks.end((front_), (left_), (uint64_t)(value_)); \
  } while (0)
#else
#define QGM_DRAWS
#define QGM_IN_DRAWS
#define QGM_DRAWS_ARE_WANTED 0
#define QGM_BEGIN_DRAW(kind_, front_, left_, range_, takes_) ((void)0)
#define QGM_END_DRAW(front_, left_, value_) ((void)0)
#endif

#ifdef __cplusplus
}
#endif

#endif
