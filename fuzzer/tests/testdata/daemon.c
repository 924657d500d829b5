// Leaves a process of its own session behind in every run: as a program, or as a harness with -DHARNESS.
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave_a_daemon(void) {
  pid_t between = fork();
  if (between == 0) {
    setsid();
    if (fork() == 0)
      for (;;) pause();
    _exit(0);
  }
  waitpid(between, NULL, 0);
}

#ifdef HARNESS
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0 && data[0] == 'd') leave_a_daemon();
  return 0;
}
#else
int main(void) {
  char byte;
  if (read(0, &byte, 1) == 1 && byte == 'd') leave_a_daemon();
  return 0;
}
#endif
