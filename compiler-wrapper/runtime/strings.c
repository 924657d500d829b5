/* Linked into harnesses: functions of the C library that compare, so that comparisons of objects are recorded which others
   have compiled. Weak: sanitizers, and clang's own fuzzer, bring such functions and call the hooks themselves. Where a linker
   takes these in spite of a sanitizer, they call the sanitizer's, which check what is read. */
#include "comparisons.h"

#include <dlfcn.h>

#define WEAK __attribute__((weak))
#define IS_ON UNLIKELY(__quagmire_recording == QGM_ON)
#define HERE __builtin_return_address(0)

static int (*next_memcmp)(const void *, const void *, size_t);
static int (*next_strcmp)(const char *, const char *);
static int (*next_strncmp)(const char *, const char *, size_t);
static int (*next_strcasecmp)(const char *, const char *);
static int (*next_strncasecmp)(const char *, const char *, size_t);
static char *(*next_strstr)(const char *, const char *);
static char *(*next_strcasestr)(const char *, const char *);
static void *(*next_memmem)(const void *, size_t, const void *, size_t);

extern char __interceptor_memcmp[] __attribute__((weak)), __interceptor_strcmp[] __attribute__((weak)),
    __interceptor_strncmp[] __attribute__((weak)), __interceptor_strcasecmp[] __attribute__((weak)),
    __interceptor_strncasecmp[] __attribute__((weak)), __interceptor_strstr[] __attribute__((weak)),
    __interceptor_strcasestr[] __attribute__((weak)), __interceptor_memmem[] __attribute__((weak));

static __attribute__((constructor(101))) void find_next(void) {
#define FIND(name) *(void **)&next_##name = __interceptor_##name ? (void *)__interceptor_##name : dlsym(RTLD_NEXT, #name)
  FIND(memcmp);
  FIND(strcmp);
  FIND(strncmp);
  FIND(strcasecmp);
  FIND(strncasecmp);
  FIND(strstr);
  FIND(strcasestr);
  FIND(memmem);
}

/* What stands in for them before the C library's are found: while libraries are being loaded, and in static programs. */
static int plain_memory(const void *first, const void *second, size_t n) {
  const unsigned char *a = first, *b = second;
  for (size_t i = 0; i < n; i++)
    if (a[i] != b[i])
      return a[i] - b[i];
  return 0;
}

static int plain_strings(const char *a, const char *b, size_t n, int kind) {
  for (size_t i = 0; i < n; i++) {
    unsigned char left = folded((unsigned char)a[i], kind), right = folded((unsigned char)b[i], kind);
    if (left != right || left == 0)
      return left - right;
  }
  return 0;
}

static size_t length(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  return length;
}

static char *plain_search(const char *hay, const char *needle, int kind) {
  size_t size = length(needle);
  for (;; hay++) {
    if (plain_strings(hay, needle, size, kind) == 0)
      return (char *)hay;
    if (!*hay)
      return NULL;
  }
}

/* Whether there is more to do than to call the C library's function. */
#define IS_SLOW(name) UNLIKELY(__quagmire_recording == QGM_ON || !next_##name)
#define SLOW static __attribute__((noinline))

SLOW int slow_memcmp(const void *pc, const void *a, const void *b, size_t n) {
  if (IS_ON)
    __quagmire_compared_memory(pc, a, b, n);
  return next_memcmp ? next_memcmp(a, b, n) : plain_memory(a, b, n);
}

WEAK int memcmp(const void *a, const void *b, size_t n) {
  return IS_SLOW(memcmp) ? slow_memcmp(HERE, a, b, n) : next_memcmp(a, b, n);
}

/* Compilers call it where only equality counts. */
WEAK int bcmp(const void *a, const void *b, size_t n) {
  return IS_SLOW(memcmp) ? slow_memcmp(HERE, a, b, n) : next_memcmp(a, b, n);
}

SLOW int slow_strcmp(const void *pc, const char *a, const char *b) {
  if (IS_ON)
    __quagmire_compared_strings(pc, a, b, SIZE_MAX, 0);
  return next_strcmp ? next_strcmp(a, b) : plain_strings(a, b, SIZE_MAX, 0);
}

WEAK int strcmp(const char *a, const char *b) { return IS_SLOW(strcmp) ? slow_strcmp(HERE, a, b) : next_strcmp(a, b); }

SLOW int slow_strncmp(const void *pc, const char *a, const char *b, size_t n) {
  if (IS_ON)
    __quagmire_compared_strings(pc, a, b, n, 0);
  return next_strncmp ? next_strncmp(a, b, n) : plain_strings(a, b, n, 0);
}

WEAK int strncmp(const char *a, const char *b, size_t n) {
  return IS_SLOW(strncmp) ? slow_strncmp(HERE, a, b, n) : next_strncmp(a, b, n);
}

SLOW int slow_strcasecmp(const void *pc, const char *a, const char *b) {
  if (IS_ON)
    __quagmire_compared_strings(pc, a, b, SIZE_MAX, QGM_FOLD);
  return next_strcasecmp ? next_strcasecmp(a, b) : plain_strings(a, b, SIZE_MAX, QGM_FOLD);
}

WEAK int strcasecmp(const char *a, const char *b) {
  return IS_SLOW(strcasecmp) ? slow_strcasecmp(HERE, a, b) : next_strcasecmp(a, b);
}

SLOW int slow_strncasecmp(const void *pc, const char *a, const char *b, size_t n) {
  if (IS_ON)
    __quagmire_compared_strings(pc, a, b, n, QGM_FOLD);
  return next_strncasecmp ? next_strncasecmp(a, b, n) : plain_strings(a, b, n, QGM_FOLD);
}

WEAK int strncasecmp(const char *a, const char *b, size_t n) {
  return IS_SLOW(strncasecmp) ? slow_strncasecmp(HERE, a, b, n) : next_strncasecmp(a, b, n);
}

SLOW char *slow_strstr(const void *pc, const char *hay, const char *needle) {
  if (IS_ON)
    __quagmire_searched(pc, hay, length(hay), needle, length(needle));
  return next_strstr ? next_strstr(hay, needle) : plain_search(hay, needle, 0);
}

WEAK char *strstr(const char *hay, const char *needle) {
  return IS_SLOW(strstr) ? slow_strstr(HERE, hay, needle) : next_strstr(hay, needle);
}

SLOW char *slow_strcasestr(const void *pc, const char *hay, const char *needle) {
  if (IS_ON)
    __quagmire_searched(pc, hay, length(hay), needle, length(needle));
  return next_strcasestr ? next_strcasestr(hay, needle) : plain_search(hay, needle, QGM_FOLD);
}

WEAK char *strcasestr(const char *hay, const char *needle) {
  return IS_SLOW(strcasestr) ? slow_strcasestr(HERE, hay, needle) : next_strcasestr(hay, needle);
}

SLOW void *slow_memmem(const void *pc, const void *hay, size_t hay_size, const void *needle, size_t size) {
  if (IS_ON)
    __quagmire_searched(pc, hay, hay_size, needle, size);
  if (next_memmem)
    return next_memmem(hay, hay_size, needle, size);
  for (size_t at = 0; at + size <= hay_size; at++)
    if (plain_memory((const char *)hay + at, needle, size) == 0)
      return (char *)hay + at;
  return NULL;
}

WEAK void *memmem(const void *hay, size_t hay_size, const void *needle, size_t size) {
  return IS_SLOW(memmem) ? slow_memmem(HERE, hay, hay_size, needle, size) : next_memmem(hay, hay_size, needle, size);
}
