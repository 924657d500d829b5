/* Part of the fork server: the run that is on, and the processes that make runs. */
#include "machine.h"

#include "run.h"
#include "comparisons.h"
#include "draws.h"
#include "window.h"

/* In newer C libraries. */
extern pid_t _Fork(void) __attribute__((weak));

enum qgm_mode __quagmire_mode;
struct qgm_served *__quagmire_served;
pid_t __quagmire_server;

_Noreturn void __quagmire_leave(int code) {
  for (;;)
    call_system(SYS_exit_group, code, 0, 0);
}

int __quagmire_hear(uint32_t *word) { return transfer(QGM_REQUESTS, word, sizeof *word, 1); }

int __quagmire_say(uint32_t word) { return transfer(QGM_ANSWERS, &word, sizeof word, 0); }

uint64_t __quagmire_cpu_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

void __quagmire_reset(void) {
  struct qgm_served *served = __quagmire_served;
  served->looped = QGM_ENDED;
  served->measured = served->cpu_began = served->generating = 0;
  served->pc = served->address = served->stack = 0;
  served->heap = (struct qgm_heap){0};
  /* the process that held the lock may have been killed */
  served->libraries_locked = 0;
}

void __quagmire_begin(const void *frame) {
  if (__quagmire_mode == QGM_QUAGMIRE) {
    __quagmire_begin_stack(__quagmire_served->top = (uintptr_t)frame);
    __quagmire_served->heap.counting = 1;
    __quagmire_begin_draws();
    __quagmire_begin_comparisons();
    if (__quagmire_has_generator())
      __quagmire_generate(frame);
  }
  __quagmire_enter_active();
}

void __quagmire_begin_target(const void *frame) {
  struct qgm_served *served = __quagmire_served;
  __quagmire_forget_counts();
  served->heap = (struct qgm_heap){.counting = 1};
  __quagmire_begin_stack(served->top = (uintptr_t)frame);
  served->cpu_began = __quagmire_cpu_ns();
  served->began = time_stamp();
}

void __quagmire_note_stack(void) {
  struct qgm_served *served = __quagmire_served;
  if (__quagmire_mode == QGM_QUAGMIRE && served && __quagmire_lowest_stack && __quagmire_lowest_stack < served->top)
    served->stack = served->top - __quagmire_lowest_stack;
}

pid_t __quagmire_fork_child(void) { return _Fork ? _Fork() : fork(); }

void __quagmire_kill_group(pid_t child) { call_system(SYS_kill, -child, SIGKILL, 0); }
