// Does to its process what targets do that were never meant to share one, as the input says: `chdir`, `fclose`, ...
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char name[16] = {0};
  if (size == 0 || size >= sizeof name) return 0;
  memcpy(name, data, size);
  if (!strcmp(name, "chdir") && chdir("/") != 0) return 0;
  if (!strcmp(name, "fclose")) {
    fclose(stdin);
    fclose(stdout);
    fclose(stderr);
  }
  if (!strcmp(name, "ignore")) signal(SIGTERM, SIG_IGN);
  if (!strcmp(name, "terminate")) raise(SIGTERM);
  if (!strcmp(name, "interrupt")) raise(SIGINT);
  if (!strcmp(name, "alarm")) raise(SIGALRM);
  if (!strcmp(name, "block")) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;) sleep(1);
  }
  if (!strcmp(name, "fork")) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
  return 0;
}
