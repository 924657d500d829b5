/* Linked into harnesses: callbacks of SanitizerCoverage that record comparisons. In ordinary runs each tests one variable.
   Strong definitions in an object of the link: runtimes of sanitizers have weak ones. */
#include "comparisons.h"

#include <string.h>

/* Cases of a switch that are looked at. */
#define MOST_CASES 1024

#define HERE __builtin_return_address(0)

/* Notes a comparison of numbers. */
#define NOTE(type, first, second, is_constant)                                                                                    \
  if (UNLIKELY(__quagmire_recording != QGM_OFF))                                                                                   \
  __quagmire_compared_numbers(HERE, (type)(first), (type)(second), sizeof(type), is_constant)

void __sanitizer_cov_trace_cmp1(uint8_t a, uint8_t b) { NOTE(uint8_t, a, b, 0); }
void __sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b) { NOTE(uint16_t, a, b, 0); }
void __sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b) { NOTE(uint32_t, a, b, 0); }
void __sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b) { NOTE(uint64_t, a, b, 0); }
void __sanitizer_cov_trace_const_cmp1(uint8_t a, uint8_t b) { NOTE(uint8_t, a, b, 1); }
void __sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b) { NOTE(uint16_t, a, b, 1); }
void __sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b) { NOTE(uint32_t, a, b, 1); }
void __sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b) { NOTE(uint64_t, a, b, 1); }

/* gcc's, whose operands may both be constants or neither. */
void __sanitizer_cov_trace_cmpf(float a, float b) {
  union {
    float number;
    uint32_t bits;
  } first = {a}, second = {b};
  NOTE(uint32_t, first.bits, second.bits, 0);
}
void __sanitizer_cov_trace_cmpd(double a, double b) {
  union {
    double number;
    uint64_t bits;
  } first = {a}, second = {b};
  NOTE(uint64_t, first.bits, second.bits, 0);
}

/* Notes a switch: `cases` begins with their number and the bits of the value, which may be odd, and has them in any order. */
static __attribute__((noinline)) void switched(const char *place, uint64_t value, const uint64_t *cases) {
  uint64_t bits = cases[1] < 64 ? cases[1] : 64;
  unsigned size = bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
  uint64_t number = cases[0] < MOST_CASES ? cases[0] : MOST_CASES;
  for (uint64_t i = 0; i < number; i++) /* each case is a place of its own */
    __quagmire_compared_numbers(place + i, cases[2 + i], value, size, 1);
}

void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases) {
  if (UNLIKELY(__quagmire_recording != QGM_OFF))
    switched(HERE, value, cases);
}

/* Functions of the C library that compare, as interceptors of sanitizers and those of clang's fuzzer see them: `pc` is where
   they were called. Code that calls no other callback calls them too, so that they do not say that comparisons are traced. */
#define IS_ON UNLIKELY(__quagmire_recording == QGM_ON)
void __sanitizer_weak_hook_memcmp(const void *pc, const void *a, const void *b, size_t n, int result) {
  if (IS_ON && result != 0)
    __quagmire_compared_memory(pc, a, b, n);
}
void __sanitizer_weak_hook_strncmp(const void *pc, const char *a, const char *b, size_t n, int result) {
  if (IS_ON && result != 0)
    __quagmire_compared_strings(pc, a, b, n, 0);
}
void __sanitizer_weak_hook_strcmp(const void *pc, const char *a, const char *b, int result) {
  if (IS_ON && result != 0)
    __quagmire_compared_strings(pc, a, b, SIZE_MAX, 0);
}
void __sanitizer_weak_hook_strncasecmp(const void *pc, const char *a, const char *b, size_t n, int result) {
  if (IS_ON && result != 0)
    __quagmire_compared_strings(pc, a, b, n, QGM_FOLD);
}
void __sanitizer_weak_hook_strcasecmp(const void *pc, const char *a, const char *b, int result) {
  if (IS_ON && result != 0)
    __quagmire_compared_strings(pc, a, b, SIZE_MAX, QGM_FOLD);
}
void __sanitizer_weak_hook_strstr(const void *pc, const char *hay, const char *needle, const char *result) {
  if (IS_ON && !result)
    __quagmire_searched(pc, hay, strnlen(hay, QGM_OPERAND_BYTES), needle, strnlen(needle, QGM_OPERAND_BYTES));
}
void __sanitizer_weak_hook_strcasestr(const void *pc, const char *hay, const char *needle, const char *result) {
  if (IS_ON && !result)
    __quagmire_searched(pc, hay, strnlen(hay, QGM_OPERAND_BYTES), needle, strnlen(needle, QGM_OPERAND_BYTES));
}
void __sanitizer_weak_hook_memmem(const void *pc, const void *hay, size_t hay_size, const void *needle, size_t needle_size,
                                  const void *result) {
  if (IS_ON && !result)
    __quagmire_searched(pc, hay, hay_size, needle, needle_size);
}
