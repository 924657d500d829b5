// A program that does next to nothing: what is left is what a run costs. By default it reads standard input; with
// -DDEFERRED its fork server starts late, with -DPERSISTENT it makes many runs in one process, from shared memory.
#include <stdio.h>
#include <unistd.h>

static volatile int reached;

static void look(const unsigned char *bytes, ssize_t size) {
  if (size > 0 && bytes[0] == 'q') {
    reached = 1;
    if (size > 1 && bytes[1] == 'u') {
      reached = 2;
      if (size > 2 && bytes[2] == 'a')
        reached = 3;
    }
  }
}

#ifdef PERSISTENT
__AFL_FUZZ_INIT();

int main(void) {
  __AFL_INIT();
  unsigned char *bytes = __AFL_FUZZ_TESTCASE_BUF;
  while (__AFL_LOOP(10000))
    look(bytes, __AFL_FUZZ_TESTCASE_LEN);
  return 0;
}
#else
int main(void) {
  static unsigned char bytes[4096];
#ifdef DEFERRED
  __AFL_INIT();
#endif
  look(bytes, read(0, bytes, sizeof bytes));
  return 0;
}
#endif
