// Ends its run in the way that the input names: `abort`, `null`, ... Any other input returns.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of no known value, so that the compiler neither sees what happens nor drops it.
static int *volatile nowhere;
static volatile int zero;
static volatile int result;

__attribute__((noinline)) static int recurse(volatile int *depth) {
  volatile char frame[256];
  volatile int here = *depth + 1;
  frame[0] = (char)here;
  if (!zero) recurse(&here);
  return here + frame[0];
}

static void *crash(void *unused) {
  *nowhere = 1;
  return unused;
}

static void hog(void) {
  while (!zero) {
    volatile char *block = malloc(1 << 20);
    if (!block) abort();
    for (size_t at = 0; at < 1 << 20; at += 4096) block[at] = 1;
    usleep(500);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char name[16] = {0};
  if (size == 0 || size >= sizeof name) return 0;
  memcpy(name, data, size);
  if (!strcmp(name, "abort")) abort();
  if (!strcmp(name, "null")) *nowhere = 1;
  if (!strcmp(name, "divide")) result = 100 / zero;
  if (!strcmp(name, "stack")) recurse(&zero);
  if (!strcmp(name, "trap")) __builtin_trap();
  if (!strcmp(name, "exit")) exit(3);
  if (!strcmp(name, "_exit")) _exit(4);
  if (!strcmp(name, "quick_exit")) quick_exit(5);
  if (!strcmp(name, "exit_group")) syscall(SYS_exit_group, 6);
  if (!strcmp(name, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(name, "loop"))
    while (!zero) {
    }
  if (!strcmp(name, "hog")) hog();
  if (!strcmp(name, "thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, crash, NULL);
    pthread_join(thread, NULL);
  }
  return 0;
}
