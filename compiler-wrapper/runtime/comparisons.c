/* Linked into harnesses: the record of comparisons, and the callbacks of SanitizerCoverage that fill it. In ordinary runs each
   callback tests one variable. Strong definitions in an object of the link: runtimes of sanitizers have weak ones. */
#include "comparisons.h"

#include <string.h>

/* Different comparisons that are recorded of one place of the program: a loop does not fill the list. */
#define MOST_OF_PLACE 64
/* Cases of a switch that are looked at. */
#define MOST_CASES 1024

#define PLACES 4096
#define SEEN 8192
#define PAGE 4096

struct qgm_comparisons __quagmire_comparisons;
unsigned __quagmire_recording = QGM_UNCALLED;

/* Number of comparisons by the hash of their place. */
static uint8_t of_place[PLACES];
/* Hashes of recent comparisons, which are not recorded again. */
static uint64_t seen[SEEN];

void __quagmire_record_comparisons(uint64_t on) {
  if (on) {
    memset(of_place, 0, sizeof of_place);
    memset(seen, 0, sizeof seen);
    __quagmire_comparisons.count = 0;
  }
  __quagmire_recording = on ? QGM_ON : QGM_OFF;
}

static uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

/* Adds a comparison, unless it is known or its place has had enough. */
static void add(const void *place, const struct qgm_comparison *one) {
  /* the distance is the same wherever the program is mapped */
  uint64_t hash = mixed(0, (uint64_t)((uintptr_t)place - (uintptr_t)&__quagmire_comparisons));
  uint8_t *number = &of_place[hash % PLACES];
  if (*number >= MOST_OF_PLACE)
    return;
  uint64_t words[(sizeof *one + 7) / 8];
  memset(words, 0, sizeof words);
  memcpy(words, one, sizeof *one);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    hash = mixed(hash, words[i]);
  if (seen[hash % SEEN] == hash)
    return;
  seen[hash % SEEN] = hash;
  ++*number;
  uint64_t slot = __atomic_fetch_add(&__quagmire_comparisons.count, 1, __ATOMIC_RELAXED);
  if (slot < QGM_MAX_COMPARISONS)
    __quagmire_comparisons.comparison[slot] = *one;
}

void __quagmire_compared_numbers(const void *place, uint64_t first, uint64_t second, unsigned size, int is_constant) {
  __quagmire_comparisons.are_called = 1;
  if (__quagmire_recording == QGM_UNCALLED)
    __quagmire_recording = QGM_OFF;
  /* bytes that are compared, as they are or as wider numbers: other mutations find these values as soon */
  if (__quagmire_recording == QGM_OFF || first == second || (first | second) < 256)
    return;
  struct qgm_comparison one = {.kind = QGM_NUMBERS, .is_constant = (uint8_t)is_constant, .size = {(uint8_t)size, (uint8_t)size}};
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  first <<= 64 - 8 * size;
  second <<= 64 - 8 * size;
#endif
  memcpy(one.operand[0], &first, size);
  memcpy(one.operand[1], &second, size);
  add(place, &one);
}

static void add_bytes(const void *place, const void *first, size_t first_size, const void *second, size_t second_size) {
  struct qgm_comparison one = {.kind = QGM_BYTES, .size = {(uint8_t)first_size, (uint8_t)second_size}};
  memcpy(one.operand[0], first, first_size);
  memcpy(one.operand[1], second, second_size);
  add(place, &one);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Number of bytes at `start` that are taken, of which the comparison reads `read`: `most`, and no further than the page in
   which the comparison stops. A buffer that ends without a zero byte may end where nothing can be read. */
static size_t taken(const void *start, size_t read, size_t most) {
  size_t page = PAGE - ((uintptr_t)start + read - 1) % PAGE - 1;
  return least(least(most, QGM_OPERAND_BYTES), read + page);
}

void __quagmire_compared_memory(const void *place, const void *first, const void *second, size_t most) {
  if (most == 0)
    return;
  const uint8_t *a = first, *b = second;
  size_t read = 0;
  while (read < most && a[read] == b[read])
    read++;
  if (read < most)
    add_bytes(place, a, taken(a, read + 1, most), b, taken(b, read + 1, most));
}

static uint8_t folded(uint8_t letter, int kind) {
  return (kind & QGM_FOLD) && letter >= 'A' && letter <= 'Z' ? (uint8_t)(letter + 32) : letter;
}

void __quagmire_compared_strings(const void *place, const char *first, const char *second, size_t most, int kind) {
  if (most == 0)
    return;
  const uint8_t *a = (const uint8_t *)first, *b = (const uint8_t *)second;
  size_t read = 0;
  while (read < most && a[read] && folded(a[read], kind) == folded(b[read], kind))
    read++;
  if (read < most && folded(a[read], kind) != folded(b[read], kind))
    add_bytes(place, a, strnlen(first, taken(a, read + 1, most)), b, strnlen(second, taken(b, read + 1, most)));
}

void __quagmire_searched(const void *place, const void *hay, size_t hay_size, const void *needle, size_t needle_size) {
  if (needle_size == 0)
    return;
  size_t size = least(needle_size, QGM_OPERAND_BYTES);
  const uint8_t *a = hay, *b = needle;
  size_t same = 0;
  while (same < least(hay_size, size) && a[same] == b[same])
    same++;
  if (same < size)
    add_bytes(place, hay, least(hay_size, size), needle, size);
}

#define UNLIKELY(condition) __builtin_expect(condition, 0)
#define HERE __builtin_return_address(0)

/* Notes a comparison of numbers. */
#define NOTE(type, first, second, is_constant)                                                                                    \
  if (UNLIKELY(__quagmire_recording != QGM_OFF))                                                                                   \
  __quagmire_compared_numbers(HERE, (type)(first), (type)(second), sizeof(type), is_constant)

/* What the pass calls in code that was compiled with QUAGMIRE_COMPARES=1 (see passes/compares.h). */
void __quagmire_compare_numbers(const void *place, uint64_t first, uint64_t second, unsigned size, int is_constant) {
  if (UNLIKELY(__quagmire_recording != QGM_OFF))
    __quagmire_compared_numbers(place, first, second, size, is_constant);
}

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
