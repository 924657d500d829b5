/* The machine and its system: time stamps, signals of faults, system calls, memory. To be included first. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* Signals of faults that a program causes itself. */
static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

static inline uint64_t clock_ns(clockid_t clock) {
  struct timespec now = {0};
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t time_stamp(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return clock_ns(CLOCK_MONOTONIC);
#endif
}

/* An inline system call. In a child that was just forked, each page of the C library costs a page fault. */
static inline long call_system(long number, long first, long second, long third) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
  return result;
#else
  return syscall(number, first, second, third);
#endif
}

static inline uint64_t program_counter(const void *context) {
#if defined(__x86_64__)
  return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uint64_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

/* Memory that is not from the heap, which belongs to the target, and is taken as it is used; null if there is none. */
static inline void *reserve(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Reads or writes exactly `length` bytes: 0, or -1 if that cannot be. */
static inline int transfer(int fd, void *bytes, size_t length, int is_read) {
  for (size_t done = 0; done < length;) {
    ssize_t step = is_read ? read(fd, (char *)bytes + done, length - done) : write(fd, (char *)bytes + done, length - done);
    if (step < 0 && errno == EINTR)
      continue;
    if (step <= 0)
      return -1;
    done += (size_t)step;
  }
  return 0;
}
