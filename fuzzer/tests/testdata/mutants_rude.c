/* A harness whose mutants reach beyond their process: they end its parent, sleep, fork, write without end. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static int is(int a, int b) { return a == b; }

static void behave(int c) {
  if (is(c, 'k')) /* kills */
    kill(getppid(), SIGKILL);
  if (is(c, 's')) /* sleeps */
    sleep(100);
  if (is(c, 'f')) /* forks */
    while (fork() == 0)
      pause();
  if (is(c, 'w')) /* writes */
    for (;;)
      puts("all work and no play makes jack a dull boy");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size)
    behave(data[0]);
  return 0;
}
