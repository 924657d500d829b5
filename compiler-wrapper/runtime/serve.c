/* Linked into executables that are no harnesses: the fork server. When quagmire has started the program, or one of AFL++'s
   tools, main is reached only in children of this process, one for each run. The counts of all objects lie in shared
   memory, at the addresses where they have always been: the target's code knows nothing of it, and whatever happens to a
   child, what it executed is there. A program can have its server start later (__AFL_INIT), and make many runs in one child
   (__AFL_LOOP). */
#include "serve.h"

#include "active.h"
#include "afl.h"
#include "counts.h"
#include "threads.h"

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
__attribute__((used, section(".note.quagmire"))) static const char mark[] = "quagmire fork server, abi 8";

/* Sections that __AFL_INIT and __AFL_LOOP leave in the program; a variable that __AFL_FUZZ_INIT does. */
extern const char __start_qgm_deferred[] __attribute__((weak, visibility("hidden")));
extern const char __start_qgm_persistent[] __attribute__((weak, visibility("hidden")));
extern int __quagmire_takes_testcases __attribute__((weak));
/* In newer C libraries. */
extern pid_t _Fork(void) __attribute__((weak));

enum qgm_mode __quagmire_mode;
static struct qgm_served *served;
static struct qgm_server own; /* not written by children */
static int memory_file = -1;
static int child_fills;   /* counts could not be shared: the child fills AFL's map */
static uint8_t *memory;   /* quagmire's input mapping */
static int in_loop;

/* Records the deepest stack. Called by a signal handler too: it only stores. */
static void note_stack(void) {
  if (__quagmire_mode == QGM_QUAGMIRE && served && __quagmire_lowest_stack && __quagmire_lowest_stack < served->top)
    served->stack = served->top - __quagmire_lowest_stack;
}

static void note_end(void) {
  note_stack();
  if (child_fills || __quagmire_mode == QGM_AFL_ALONE)
    afl_fill_map();
}

__attribute__((destructor)) static void ended(void) { note_end(); }

/* Ends a process of the fork server at once. */
static _Noreturn void leave(int code) {
  for (;;)
    call_system(SYS_exit_group, code, 0, 0);
}

/* Exits that run no destructors; weak, since the program may define these functions. */
__attribute__((weak)) void _exit(int code) {
  note_end();
  leave(code);
}

__attribute__((weak)) void _Exit(int code) { _exit(code); }

/* Restores the default action of a signal. */
static void crashed(int signal, siginfo_t *info, void *context) {
  if (served) {
    served->pc = program_counter(context);
    served->address = (uint64_t)info->si_addr;
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

/* Puts the counts of an object into shared memory: that of the file, or anonymous memory (-1). */
static enum qgm_ready share_module(int file, uint64_t number) {
  const struct qgm_module *module = &__quagmire_modules.module[number];
  enum qgm_ready ready = QGM_READY;
  struct qgm_region region[2];
  int count = module->functions_start ? regions_of(module, region) : 0;
  for (int part = 0; ready == QGM_READY && part < count; part++) {
    region[part].offset = own.bytes;
    ready = own.region_count < sizeof own.region / sizeof *own.region ? share(file, region[part]) : QGM_NO_MEMORY;
    if (ready == QGM_READY)
      own.region[own.region_count++] = region[part];
    own.bytes += region[part].length;
  }
  return ready;
}

/* Puts the counts of all objects into shared memory. */
static enum qgm_ready share_all(int file) {
  enum qgm_ready ready = QGM_READY;
  for (uint64_t i = 0; ready == QGM_READY && i < __quagmire_modules.count; i++)
    ready = share_module(file, i);
  return ready;
}

/* Reads or writes exactly `length` bytes. */
static int transfer(int fd, void *bytes, size_t length, int is_read) {
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

static int hear(uint32_t *word) { return transfer(QGM_REQUESTS, word, sizeof *word, 1); }
static int say(uint32_t word) { return transfer(QGM_ANSWERS, &word, sizeof word, 0); }

static uint64_t nanoseconds(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

static uint64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Resets the results for the run that begins. */
static void reset(void) {
  served->looped = QGM_ENDED;
  served->measured = served->cpu_began = 0;
  served->pc = served->address = served->stack = 0;
  served->heap = (struct qgm_heap){0};
  /* the process that held the lock may have been killed */
  served->libraries_locked = 0;
}

/* Starts a run; `frame` is the stack address at which it begins. */
static void begin(const void *frame) {
  enter_active();
  if (__quagmire_mode == QGM_QUAGMIRE) {
    __quagmire_lowest_stack = served->top = (uintptr_t)frame;
    served->heap.counting = 1;
  }
}

static void keep_counts(void);
static void open_libraries(void);

/* Process id of the server, once it serves: every other process is its child. Not written by children, which would have to
   copy its page. */
static pid_t server;

/* Forks without running the target's pthread_atfork handlers: for the target, a run is a new process. */
static pid_t fork_child(void) { return _Fork ? _Fork() : fork(); }

/* Populates the shared pages, which are missing in a child's page tables: cheaper than a fault for each page that is used.
   On systems without this call they are faulted in. */
static void map_counts(void) {
  for (uint64_t i = 0; i < own.region_count; i++)
    call_system(SYS_madvise, (long)own.region[i].address, (long)own.region[i].length, QGM_POPULATE_WRITE);
}

/* Kills processes that a child has left behind, mostly none: a direct call, since errno would cost a page to copy. */
static void kill_group(pid_t child) { call_system(SYS_kill, -child, SIGKILL, 0); }

/* Prepares a child that was just forked. */
static void become_child(const void *frame) {
  /* a child that answers in its loop needs them */
  if (__quagmire_mode == QGM_AFL || !__start_qgm_persistent) {
    call_system(SYS_close, QGM_REQUESTS, 0, 0);
    call_system(SYS_close, QGM_ANSWERS, 0, 0);
  }
  if (memory_file >= 0)
    call_system(SYS_close, memory_file, 0, 0);
  /* a child ends with the server, and processes that the child has started end with it */
  call_system(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
  if (call_system(SYS_getppid, 0, 0, 0) != server)
    leave(0);
  call_system(SYS_setpgid, 0, 0, 0);
  map_counts();
  if (__quagmire_mode == QGM_QUAGMIRE && __start_qgm_persistent)
    keep_counts();
  begin(frame);
}

/* Serves quagmire's requests: forks a child for each run; returns in the children. */
static void serve(void) {
  uint32_t word = 0;
  if (say(0) != 0 || served->ready != QGM_READY)
    leave(0);
  server = getpid();
  __quagmire_forget_closed();
  for (;;) {
    if (hear(&word) != 0)
      leave(0);
    /* it was answered for when the child that should have read it ended */
    if (word == (uint32_t)served->answered)
      continue;
    pid_t child = 0;
    if (!served->opening) {
      reset();
      served->began = time_stamp();
      child = fork_child();
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
      kill_group(child);
      /* it ended in its loop, where it waited */
      if (__start_qgm_persistent && served->answered == served->wanted)
        continue;
    }
    /* perhaps a child in its loop has read this request, and left it to us */
    if (served->opening)
      open_libraries();
    else
      served->status = child > 0 ? (uint64_t)status : QGM_NO_CHILD;
    /* requests after this one may have been read by a child in its loop */
    served->answered = __start_qgm_persistent ? served->wanted : word;
    if (say((uint32_t)served->answered) != 0)
      leave(0);
  }
}

/* Serves AFL++'s requests: forks a child for each run; returns in the children. */
static void serve_afl(void) {
  uint32_t word = 0;
  if (say(afl_hello(&__quagmire_takes_testcases != NULL)) != 0) {
    __quagmire_mode = QGM_AFL_ALONE;
    enter_active();
    return;
  }
  if (&__quagmire_takes_testcases) {
    if (hear(&word) != 0)
      leave(0);
    if ((word & (AFL_ENABLED | AFL_TAKES_MEMORY)) == (AFL_ENABLED | AFL_TAKES_MEMORY))
      afl_input = afl_attach("__AFL_SHM_FUZZ_ID");
  }
  server = getpid();
  pid_t child = 0;
  int waits = 0; /* whether the child has stopped in its loop */
  for (;;) {
    uint32_t was_killed = 0;
    if (hear(&was_killed) != 0)
      leave(0);
    if (waits && was_killed) {
      waits = 0;
      while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    }
    if (waits) {
      kill(child, SIGCONT);
    } else {
      child = fork_child();
      if (child == 0) {
        become_child(__builtin_frame_address(0));
        return;
      }
      if (child < 0)
        leave(1);
    }
    int status = 0;
    if (say((uint32_t)child) != 0)
      leave(0);
    while (waitpid(child, &status, __start_qgm_persistent ? WUNTRACED : 0) < 0 && errno == EINTR)
      ;
    waits = WIFSTOPPED(status);
    if (!waits)
      kill_group(child);
    if (!child_fills)
      afl_fill_map();
    for_all_that_ran(clear_function);
    if (say((uint32_t)status) != 0)
      leave(0);
  }
}

/* Starts serving, if the starting process has asked for it. */
static void start(void) {
  if (__quagmire_mode == QGM_ALONE || __quagmire_mode == QGM_AFL_ALONE)
    return;
  own.bytes = QGM_SERVED_BYTES;
  if (__quagmire_mode == QGM_QUAGMIRE) {
    if (served->abi == QGM_ABI)
      served->ready = (uint64_t)share_all(memory_file);
    served->abi = QGM_ABI;
    own.modules = (uint64_t)&__quagmire_modules;
    served->server = (uint64_t)&own;
    served->lowest_stack = (uint64_t)&__quagmire_lowest_stack;
    /* needed for libraries that are opened later; nothing that is started here gets it */
    fcntl(memory_file, F_SETFD, FD_CLOEXEC);
    if (&__quagmire_takes_testcases) {
      memory = mmap(NULL, QGM_INPUT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, QGM_INPUT, 0);
      if (memory == MAP_FAILED)
        memory = NULL;
      served->takes_memory = memory != NULL;
    }
    __quagmire_heap = &served->heap;
    guard();
    serve();
  } else if (afl_find_map()) {
    find_owners();
    child_fills = share_all(-1) != QGM_READY;
    if (child_fills)
      guard();
    for_all_that_ran(clear_function);
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
    memory_file = atoi(descriptor);
    unsetenv(QGM_SERVE);
    void *mapped = mmap(NULL, QGM_SERVED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory_file, 0);
    if (mapped == MAP_FAILED)
      return;
    served = mapped;
    __quagmire_mode = QGM_QUAGMIRE;
  } else if (getenv("AFL_DUMP_MAP_SIZE")) {
    find_owners();
    printf("%llu\n", (unsigned long long)afl_wanted_size());
    fflush(stdout);
    leave(255);
  } else if (getenv("__AFL_SHM_ID")) {
    void *mapped = mmap(NULL, QGM_SERVED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      return;
    served = mapped;
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
      note_active(__builtin_return_address(0));
    start();
  }
}

#include "opened.h"

#include "loop.h"
