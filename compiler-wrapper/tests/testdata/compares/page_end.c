/* Comparisons of what ends where the mapped memory ends: reading a byte more is a crash. */
#include "slots.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int sink;

int main(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (two == MAP_FAILED || mprotect(two + page, page, PROT_NONE) != 0)
    return 2;
  volatile size_t three = 3, none = 0;
  char *volatile text = memcpy(two + page - 4, "abc", 4);
  char *volatile bytes = two + page - 3; /* "bc" and its end */
  char *volatile beyond = two + page;
  sink += strcmp(text, "abcdefghij");
  sink += strcmp(text, "abc");
  sink += strcasecmp(text, "ABCDEFGHIJ");
  sink += strncmp(bytes, "bcdefghijk", 10);
  sink += memcmp(bytes, "bc\0defghij", three);
  sink += strncasecmp("BC", bytes, 10);
  memcpy(bytes, "xyz", 3); /* without an end */
  sink += strncmp(bytes, "xyzxyzxyz", three);
  sink += strcmp(bytes, "xya");
  sink += memcmp(beyond, "abc", none);
  sink += strncmp(beyond, "abc", none);
  printf("%u slots, %u hit\n", found((void *)main)->progress, slots_hit((void *)main));
  return 0;
}
