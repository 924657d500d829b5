/* Linked into executables that are no harnesses: the fork server. When quagmire has started the program, or one of AFL++'s
   tools, main is reached only in children of this process, one for each run. The counts of all objects lie in shared
   memory, at the addresses where they have always been: the target's code knows nothing of it, and whatever happens to a
   child, what it executed is there. A program can have its server start later (__AFL_INIT), and make many runs in one child
   (__AFL_LOOP). */
#include "machine.h"

#include "run.h"
#include "afl.h"
#include "comparisons.h"
#include "counts.h"
#include "draws.h"
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Mark by which `quagmire fuzz` recognises a program with a fork server from its file. */
__attribute__((used, section(".note.quagmire"))) static const char mark[] = "quagmire fork server, abi 16";

/* Sections that __AFL_INIT and __AFL_LOOP leave in the program; a variable that __AFL_FUZZ_INIT does. */
extern const char __start_qgm_deferred[] __attribute__((weak, visibility("hidden")));
extern const char __start_qgm_persistent[] __attribute__((weak, visibility("hidden")));
extern int __quagmire_takes_testcases __attribute__((weak));

static void note_end(void) {
  __quagmire_note_stack();
  __quagmire_count_active();
  if (__quagmire_afl_child_fills || __quagmire_mode == QGM_AFL_ALONE)
    __quagmire_afl_fill_map();
}

__attribute__((destructor)) static void ended(void) { note_end(); }

/* Exits that run no destructors; weak, since the program may define these functions. */
__attribute__((weak)) void _exit(int code) {
  note_end();
  __quagmire_leave(code);
}

__attribute__((weak)) void _Exit(int code) { _exit(code); }

/* Restores the default action of a signal. */
static void crashed(int signal, siginfo_t *info, void *context) {
  if (__quagmire_served) {
    __quagmire_served->pc = program_counter(context);
    __quagmire_served->address = (uint64_t)info->si_addr;
  }
  note_end();
  struct sigaction normal = {.sa_handler = SIG_DFL};
  sigaction(signal, &normal, NULL);
  /* what the program did comes again when the handler returns; what somebody sent does not */
  if (info->si_code <= 0)
    raise(signal);
}

/* Stack of signal handlers. Not a mapping of its own, which every child would have to copy; in a section after all other
   variables, which would otherwise be spread over more pages. */
__attribute__((section(".bss.quagmire_stack"))) static char handler_stack[64 * 1024];

static void guard(void) {
  stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
  sigaltstack(&stack, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = crashed;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
    sigaction(fatal[i], &action, NULL);
}

static uint64_t nanoseconds(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

/* Prepares a child that was just forked. */
static void become_child(const void *frame) {
  /* a child that answers in its loop needs them */
  if (__quagmire_mode == QGM_AFL || !__start_qgm_persistent) {
    call_system(SYS_close, QGM_REQUESTS, 0, 0);
    call_system(SYS_close, QGM_ANSWERS, 0, 0);
  }
  if (__quagmire_counts_file >= 0)
    call_system(SYS_close, __quagmire_counts_file, 0, 0);
  /* a child ends with the server, and processes that the child has started end with it */
  call_system(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
  if (call_system(SYS_getppid, 0, 0, 0) != __quagmire_server)
    __quagmire_leave(0);
  call_system(SYS_setpgid, 0, 0, 0);
  __quagmire_map_counts();
  if (__quagmire_mode == QGM_QUAGMIRE && __start_qgm_persistent)
    __quagmire_keep_counts();
  __quagmire_begin(frame);
}

/* Serves quagmire's requests: forks a child for each run; returns in the children. */
static void serve(void) {
  struct qgm_served *served = __quagmire_served;
  uint32_t word = 0;
  if (__quagmire_say(0) != 0 || served->ready != QGM_READY)
    __quagmire_leave(0);
  __quagmire_server = getpid();
  __quagmire_forget_closed();
  for (;;) {
    if (__quagmire_hear(&word) != 0)
      __quagmire_leave(0);
    /* it was answered for when the child that should have read it ended */
    if (word == (uint32_t)served->answered)
      continue;
    pid_t child = 0;
    if (!served->opening) {
      __quagmire_reset();
      served->began = time_stamp();
      child = __quagmire_fork_child();
      if (child == 0) {
        become_child(__builtin_frame_address(0));
        return;
      }
    }
    int status = 0;
    if (child > 0) {
      struct rusage usage;
      served->child = (uint64_t)child;
      while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;
      served->child = 0;
      served->heap.counting = 0;
      if (!served->measured) {
        served->cycles = time_stamp() - served->began;
        served->time_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime) - served->cpu_began;
      }
      __quagmire_kill_group(child);
      /* it ended in its loop, where it waited */
      if (__start_qgm_persistent && served->answered == served->wanted)
        continue;
    }
    /* perhaps a child in its loop has read this request, and left it to us */
    if (served->opening)
      __quagmire_open_libraries();
    else
      served->status = child > 0 ? (uint64_t)status : QGM_NO_CHILD;
    /* requests after this one may have been read by a child in its loop */
    served->answered = __start_qgm_persistent ? served->wanted : word;
    if (__quagmire_say((uint32_t)served->answered) != 0)
      __quagmire_leave(0);
  }
}

/* Serves AFL++'s requests: forks a child for each run; returns in the children. */
static void serve_afl(void) {
  uint32_t word = 0;
  if (__quagmire_say(__quagmire_afl_hello(&__quagmire_takes_testcases != NULL)) != 0) {
    __quagmire_mode = QGM_AFL_ALONE;
    __quagmire_enter_active();
    return;
  }
  if (&__quagmire_takes_testcases) {
    if (__quagmire_hear(&word) != 0)
      __quagmire_leave(0);
    if ((word & (AFL_ENABLED | AFL_TAKES_MEMORY)) == (AFL_ENABLED | AFL_TAKES_MEMORY))
      __quagmire_attach_testcase();
  }
  __quagmire_server = getpid();
  __quagmire_diversity_start();
  pid_t child = 0;
  int waits = 0; /* whether the child has stopped in its loop */
  for (;;) {
    uint32_t was_killed = 0;
    if (__quagmire_hear(&was_killed) != 0)
      __quagmire_leave(0);
    if (waits && was_killed) {
      waits = 0;
      while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    }
    if (waits) {
      kill(child, SIGCONT);
    } else {
      child = __quagmire_fork_child();
      if (child == 0) {
        become_child(__builtin_frame_address(0));
        return;
      }
      if (child < 0)
        __quagmire_leave(1);
    }
    int status = 0;
    if (__quagmire_say((uint32_t)child) != 0)
      __quagmire_leave(0);
    while (waitpid(child, &status, __start_qgm_persistent ? WUNTRACED : 0) < 0 && errno == EINTR)
      ;
    waits = WIFSTOPPED(status);
    if (!waits)
      __quagmire_kill_group(child);
    if (!__quagmire_afl_child_fills)
      __quagmire_afl_fill_map();
    __quagmire_diversity_add(status);
    __quagmire_clear_counts();
    if (__quagmire_say((uint32_t)status) != 0)
      __quagmire_leave(0);
  }
}

/* Makes what runs need. */
static enum qgm_ready make_ready(void) {
  if (__quagmire_has_sancov)
    return QGM_UNCOUNTED;
  return __quagmire_open_generator() ? __quagmire_share_all() : QGM_NO_GENERATOR;
}

/* Starts serving, if the starting process has asked for it. */
static void start(void) {
  if (__quagmire_mode == QGM_ALONE || __quagmire_mode == QGM_AFL_ALONE)
    return;
  __quagmire_tables.bytes = QGM_SERVED_BYTES;
  if (__quagmire_mode == QGM_QUAGMIRE) {
    if (__quagmire_served->abi == QGM_ABI)
      __quagmire_served->ready = (uint64_t)make_ready();
    __quagmire_served->abi = QGM_ABI;
    __quagmire_tables.modules = (uint64_t)&__quagmire_modules;
    __quagmire_served->server = (uint64_t)&__quagmire_tables;
    __quagmire_served->lowest_stack = (uint64_t)&__quagmire_lowest_stack;
    /* needed for libraries that are opened later; nothing that is started here gets it */
    fcntl(__quagmire_counts_file, F_SETFD, FD_CLOEXEC);
    if (&__quagmire_takes_testcases)
      __quagmire_served->takes_memory = (uint64_t)__quagmire_map_testcase();
    __quagmire_heap = &__quagmire_served->heap;
    guard();
    serve();
  } else if (__quagmire_afl_find_map()) {
    __quagmire_find_owners();
    __quagmire_afl_child_fills = __quagmire_share_all() != QGM_READY;
    if (__quagmire_afl_child_fills)
      guard();
    __quagmire_clear_counts();
    serve_afl();
    if (__quagmire_mode == QGM_AFL_ALONE)
      guard();
  }
}

/* After the constructors of the program's own objects, which come before this one in the command line, and of all
   libraries. */
__attribute__((constructor)) static void constructed(void) {
  const char *descriptor = getenv(QGM_SERVE);
  if (descriptor) {
    __quagmire_counts_file = atoi(descriptor);
    unsetenv(QGM_SERVE);
    void *mapped = mmap(NULL, QGM_SERVED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, __quagmire_counts_file, 0);
    if (mapped == MAP_FAILED)
      return;
    __quagmire_served = mapped;
    __quagmire_mode = QGM_QUAGMIRE;
    if (__quagmire_served->abi == QGM_ABI) {
      __quagmire_draws = (struct qgm_draws *)((char *)mapped + QGM_DRAWS_OFFSET);
      __quagmire_comparisons = (struct qgm_comparisons *)((char *)mapped + QGM_COMPARISONS_OFFSET);
    }
  } else if (getenv("AFL_DUMP_MAP_SIZE")) {
    __quagmire_find_owners();
    printf("%llu\n", (unsigned long long)__quagmire_afl_wanted_size());
    fflush(stdout);
    __quagmire_leave(255);
  } else if (getenv("__AFL_SHM_ID")) {
    void *mapped = mmap(NULL, QGM_SERVED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      return;
    __quagmire_served = mapped;
    __quagmire_mode = QGM_AFL;
  }
  if (!__start_qgm_deferred)
    start();
}

void __quagmire_init(const char *sign) {
  static int is_done;
  /* without it in this executable, the server has started long ago */
  if (is_done || !__start_qgm_deferred)
    return;
  is_done = 1;
  if (__quagmire_mode == QGM_QUAGMIRE || __quagmire_mode == QGM_AFL) {
    if (sign)
      __quagmire_note_active(__builtin_return_address(0));
    start();
  }
}
