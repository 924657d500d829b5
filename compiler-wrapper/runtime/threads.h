/* Number of threads of this process. */
#pragma once

#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

/* A thread that goes on after its run is waited for so long, in nanoseconds, with so much between two looks. */
#define LONGEST_FAREWELL 20000000
#define BETWEEN_LOOKS 100000

/* In newer C libraries: nonzero if there has never been another thread. */
extern char __libc_single_threaded __attribute__((weak));

/* Number of other threads. Costs a system call in processes that have had any. */
static inline unsigned other_threads(void) {
  if (&__libc_single_threaded && __libc_single_threaded)
    return 0;
  /* one folder per thread, plus `.` and `..` */
  struct stat threads;
  return stat("/proc/self/task", &threads) == 0 && threads.st_nlink > 3 ? (unsigned)threads.st_nlink - 3 : 0;
}

/* The same after a run that began with `known` of them: a thread that was joined may take a moment to go. */
static inline unsigned threads_after(unsigned known) {
  unsigned now = other_threads();
  for (int64_t waited = 0; now > known && waited < LONGEST_FAREWELL; waited += BETWEEN_LOOKS) {
    nanosleep(&(struct timespec){.tv_nsec = BETWEEN_LOOKS}, NULL);
    now = other_threads();
  }
  return now;
}
