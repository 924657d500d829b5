// Threads that outlive their run, as the first byte says: `s` spins and calls instrumented code, `e` calls exit while a later
// run is on, `j` is joined, `w` only waits. `l`: the thread was about to call exit when its run ended, and does in the next.
// A thread is started once in a process; what comes behind is a loop.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink, is_late, may_go_on, has_gone_on, wants_exit;
static __thread int stops_in_self;

__attribute__((noinline)) static void work(void) { sink++; }

// the runtime asks who calls once it has seen that a run is on
pthread_t pthread_self(void) {
  static pthread_t (*next)(void);
  if (!next) next = (pthread_t(*)(void))dlsym(RTLD_NEXT, "pthread_self");
  if (stops_in_self) {
    stops_in_self = 0;
    is_late = 1;
    while (!may_go_on) usleep(1000);
    has_gone_on = 1;
  }
  return next();
}

static void *thread(void *argument) {
  switch ((int)(intptr_t)argument) {
  case 's':
    for (;;) work();
  case 'l':
    stops_in_self = 1;
    exit(7);
  case 'w':
    pause();
  default:
    return NULL;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int is_started;
  if (size == 0) return 0;
  if (!is_started && data[0] != 'n' && data[0] != 'g') {
    is_started = 1;
    pthread_t started;
    pthread_create(&started, NULL, thread, (void *)(intptr_t)data[0]);
    if (data[0] == 'j') pthread_join(started, NULL);
    else pthread_detach(started);
    if (data[0] == 'l')
      while (!is_late) usleep(1000);
  }
  if (data[0] == 'g' && is_late && !has_gone_on) {
    may_go_on = 1;
    // long enough for the signal that the thread sends
    while (!has_gone_on) usleep(1000);
    usleep(100000);
  }
  // time for others
  if (data[0] == 'n') usleep(5000);
  for (size_t i = 0; i < size; i++) work();
  return 0;
}
