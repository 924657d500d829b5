// A program without a harness: letters from a file, standard input, or with -DMEMORY from memory. Triples of `a` take time, `ccc` at
// the start is its error. With -DLOOP it makes many runs in a process, with -DDEFERRED its server starts later.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef MEMORY
__AFL_FUZZ_INIT();
#endif

static unsigned triples(const char *text, size_t size) {
  unsigned count = 0;
  for (size_t i = 0; i < size; i++)
    for (size_t j = 0; text[i] == 'a' && j < i; j++)
      for (size_t k = 0; text[j] == 'a' && k < j; k++)
        count += text[k] == 'a';
  return count;
}

static void take(const char *text, size_t size) {
  char *copy = malloc(size + 1);
  memcpy(copy, text, size);
  printf("%u\n", triples(copy, size));
  free(copy);
  if (size >= 3 && memcmp(text, "ccc", 3) == 0)
    abort();
}

static void read_and_take(int argc, char **argv) {
  static char text[1 << 20];
  int input = argc > 1 ? open(argv[1], O_RDONLY) : 0;
  size_t size = 0;
  for (ssize_t more = 1; more > 0; size += more > 0 ? (size_t)more : 0)
    more = read(input, text + size, sizeof text - size);
  take(text, size);
  if (argc > 1)
    close(input);
}

int main(int argc, char **argv) {
#ifdef DEFERRED
  __AFL_INIT();
#endif
#if defined MEMORY && defined LOOP
  const char *memory = (const char *)__AFL_FUZZ_TESTCASE_BUF;
  while (__AFL_LOOP(1000))
    take(memory, (size_t)__AFL_FUZZ_TESTCASE_LEN);
#elif defined MEMORY
  const char *memory = (const char *)__AFL_FUZZ_TESTCASE_BUF;
  take(memory, (size_t)__AFL_FUZZ_TESTCASE_LEN);
#elif defined LOOP
  while (__AFL_LOOP(1000))
    read_and_take(argc, argv);
#else
  read_and_take(argc, argv);
#endif
  return 0;
}
