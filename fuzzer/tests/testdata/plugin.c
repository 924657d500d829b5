// A library for plugins.c: a loop that goes round once for each byte, and what few inputs get to. -DBEFORE_MAIN=X is what its
// constructor does where main has not begun, -DALWAYS=X what it does everywhere.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

extern int has_started;
static volatile int sink;

static inline void *wait_for_ever(void *nothing) {
  pause();
  return nothing;
}

static inline void start_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_ever, NULL);
}

__attribute__((constructor)) static void construct(void) {
#ifdef BEFORE_MAIN
  if (!has_started) BEFORE_MAIN;
#endif
#ifdef ALWAYS
  ALWAYS;
#endif
}

__attribute__((noinline)) static void deeper(const unsigned char *bytes, int size) {
  if (size > 2 && bytes[2] == '!') abort();
  sink++;
}

void work(const unsigned char *bytes, int size) {
  for (int i = 0; i < size; i++)
    sink++;
  if (size > 1 && bytes[1] == 'x') deeper(bytes, size);
}
