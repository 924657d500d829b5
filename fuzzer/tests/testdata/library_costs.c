// Calls of the C library, each in a function of its own; n is the size of the input. The comment is the charge.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CALL __attribute__((noinline)) static void

static volatile size_t sink;

static int order(const void *one, const void *other) { return *(const char *)one - *(const char *)other; }

CALL call_memcpy(char *to, const char *from, size_t n) { memcpy(to, from, n); }        // n / 16
CALL call_memmove(char *to, const char *from, size_t n) { memmove(to, from, n); }      // n / 16
CALL call_memset(char *to, size_t n) { memset(to, 'x', n); }                           // n / 16
CALL call_memchr(const char *in, size_t n) { sink = memchr(in, '#', n) != NULL; }      // n / 16
CALL call_memcmp(const char *a, const char *b, size_t n) { sink = memcmp(a, b, n) > 0; } // n / 16
CALL call_strlen(const char *in) { sink = strlen(in); }                                // n / 16
CALL call_strchr(const char *in) { sink = strchr(in, '#') != NULL; }                   // n / 16
CALL call_strrchr(const char *in) { sink = strrchr(in, 'a') != NULL; }                  // n / 16
CALL call_strcmp(const char *a, const char *b) { sink = strcmp(a, b); }                // n / 16
CALL call_strncmp(const char *a, const char *b) { sink = strncmp(a, b, 1u << 20); }    // n / 16
CALL call_strcasecmp(const char *a, const char *b) { sink = strcasecmp(a, b); }        // n / 8
CALL call_strstr(const char *in) { sink = strstr(in, "a#") != NULL; }                  // n / 8
CALL call_strspn(const char *in) { sink = strspn(in, "abcdefgh"); }                    // n / 4
CALL call_memmem(const char *in, size_t n) { sink = memmem(in, n, "a#", 2) != NULL; }  // 4 n
CALL call_strcpy(char *to, const char *from) { strcpy(to, from); }                     // n / 16
CALL call_strcat(char *to, const char *from) { to[0] = 0, strcat(to, from); }          // n / 16
CALL call_calloc(size_t n) {
  void *volatile block = calloc(n, 2); // n / 8
  free(block);
}
CALL call_qsort(char *in, size_t n) { qsort(in, n, 1, order); }                        // 8 n for each bit of n
// nothing: the first byte differs, the text is short, the length is a constant
CALL call_other(const char *a, const char *b) { sink = strcmp(a, b); }
CALL call_short(const char *in) { sink = strcmp(in, "abcdefgh"); }
CALL call_constant(char *to, const char *from) { memcpy(to, from, 64); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  char *one = malloc(n + 64), *two = malloc(n + 64);
  memcpy(one, data, n);
  one[n] = 0;
  if (n && data[0] == '!') {
    call_memcpy(two, one, SIZE_MAX / 2);
    return 0;
  }
  call_memcpy(two, one, n + 1);
  call_memmove(two, one, n);
  call_memchr(one, n), call_memcmp(one, two, n), call_strlen(one), call_strchr(one), call_strrchr(one);
  call_strcmp(one, two), call_strncmp(one, two), call_strcasecmp(one, two), call_strstr(one), call_strspn(one);
  call_memmem(one, n), call_strcpy(two, one), call_strcat(two, one), call_calloc(n), call_qsort(two, n);
  call_short(one), call_constant(two, one);
  call_memset(two, n);
  call_other(one, two);
  free(one);
  free(two);
  return 0;
}
