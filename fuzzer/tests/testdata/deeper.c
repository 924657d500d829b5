// A program that goes further with each right letter of its input, in a function of its own each time. By default it reads
// standard input, with -DDEFERRED its fork server starts late, with -DPERSISTENT it makes many runs in one process. What it
// does before that is no part of a run; what it remembers from run to run shows in its counts with -DREMEMBERS.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink, runs;

#define STEP __attribute__((noinline)) static void
STEP fourth(const unsigned char *bytes) {
  if (bytes[3] == '!')
    abort();
  if (bytes[3] == '?')
    for (;;)
      sink++;
}
STEP third(const unsigned char *bytes) {
  if (bytes[2] == 'a')
    fourth(bytes);
}
STEP second(const unsigned char *bytes) {
  if (bytes[1] == 'u')
    third(bytes);
}
STEP look(const unsigned char *bytes, int size) {
  runs++;
  for (int i = 0; i < size; i++)
    sink++;
#ifdef REMEMBERS
  for (int i = 0; i < runs; i++)
    sink++;
#endif
  if (size >= 4 && bytes[0] == 'q')
    second(bytes);
}
STEP prepare(void) {
  for (int i = 0; i < 5000; i++)
    sink++;
}

#ifdef HARNESS
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  look(bytes, (int)size);
  return size > 0 && bytes[0] == 'n' ? -1 : 0;
}
#else
#ifdef PERSISTENT
__AFL_FUZZ_INIT();
#endif

int main(void) {
  static unsigned char own[4096];
  prepare();
#if defined(DEFERRED) || defined(PERSISTENT)
  __AFL_INIT();
#endif
#ifdef PERSISTENT
  const unsigned char *bytes = __AFL_FUZZ_TESTCASE_BUF;
  while (__AFL_LOOP(100))
    look(bytes, __AFL_FUZZ_TESTCASE_LEN);
#else
  look(own, (int)read(0, own, sizeof own));
#endif
  return 0;
}
#endif
