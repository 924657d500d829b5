/* Linked into executables that are no harnesses: the fork server. When quagmire has started the program, main is never
   reached in this process but only in its children, one for each run. The counts of all objects lie in memory shared with
   quagmire, at the addresses where they have always been: the target's code knows nothing of it, and whatever happens to a
   child, what it executed is there. */
#include "machine.h"
#include "quagmire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Recognised by `quagmire fuzz` in the file, without running it. */
__attribute__((used, section(".note.quagmire"))) static const char mark[] = "quagmire fork server, abi 4";

static struct qgm_served *served;
static uintptr_t top; /* of the child's stack */

/* Also called by the handler below: nothing but stores. */
static void note_stack(void) {
  if (served && top && __quagmire_lowest_stack && __quagmire_lowest_stack < top)
    served->stack = top - __quagmire_lowest_stack;
}

__attribute__((destructor)) static void ended(void) { note_stack(); }

/* Leaves the signal to do what it does without us. */
static void crashed(int signal, siginfo_t *info, void *context) {
  served->pc = program_counter(context);
  served->address = (uint64_t)info->si_addr;
  note_stack();
  struct sigaction normal = {.sa_handler = SIG_DFL};
  sigaction(signal, &normal, NULL);
  /* what the program did comes again when the handler returns; what somebody sent does not */
  if (info->si_code <= 0)
    raise(signal);
}

static void guard(void) {
  size_t size = 64 * 1024;
  stack_t stack = {.ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), .ss_size = size};
  if (stack.ss_sp != MAP_FAILED)
    sigaltstack(&stack, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = crashed;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
    sigaction(fatal[i], &action, NULL);
}

/* Puts `length` bytes at `start` into the file. */
static enum qgm_ready share(int file, uint64_t start, uint64_t length) {
  if (length == 0)
    return QGM_READY;
  if (start % QGM_PAGE != 0)
    return QGM_NOT_SHARED;
  length = (length + QGM_PAGE - 1) / QGM_PAGE * QGM_PAGE;
  struct qgm_region region = {start, length, served->bytes};
  if (ftruncate(file, (off_t)(region.offset + length)) != 0)
    return QGM_NO_MEMORY;
  /* constructors may have counted */
  for (uint64_t done = 0; done < length;) {
    ssize_t written = pwrite(file, (const char *)start + done, length - done, (off_t)(region.offset + done));
    if (written <= 0)
      return QGM_NO_MEMORY;
    done += (uint64_t)written;
  }
  if (mmap((void *)start, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)region.offset) == MAP_FAILED)
    return QGM_NO_MEMORY;
  served->region[served->region_count++] = region;
  served->bytes += length;
  return QGM_READY;
}

static enum qgm_ready share_module(int file, const struct qgm_module *module) {
  uintptr_t low = UINTPTR_MAX, high = 0;
  for (const struct qgm_function *f = module->functions_start; f != module->functions_stop; f++)
    if (f->counts && f->edges > 1) {
      uintptr_t from = (uintptr_t)f->counts, to = (uintptr_t)(f->counts + f->edges - 1);
      low = from < low ? from : low;
      high = to > high ? to : high;
    }
  uint64_t entries = (uint64_t)((const char *)module->entries_stop - (const char *)module->entries_start);
  enum qgm_ready ready = share(file, (uint64_t)module->entries_start, entries);
  if (ready != QGM_READY || high == 0)
    return ready;
  /* the section begins at a page, and nothing else is on its pages */
  low = low / QGM_PAGE * QGM_PAGE;
  return share(file, low, high - low);
}

/* Exactly `length` bytes. */
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

static uint64_t microseconds(struct timeval time) { return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec; }

/* Runs the program once for each request; comes back in children. */
static void serve(void) {
  uint32_t word = 0;
  if (transfer(QGM_ANSWERS, &word, sizeof word, 0) != 0 || served->ready != QGM_READY)
    _exit(0);
  pid_t parent = getpid();
  for (;;) {
    if (transfer(QGM_REQUESTS, &word, sizeof word, 1) != 0)
      _exit(0);
    served->pc = served->address = served->stack = 0;
    served->heap = (struct qgm_heap){0};
    served->began = time_stamp();
    pid_t child = fork();
    if (child == 0) {
      close(QGM_REQUESTS);
      close(QGM_ANSWERS);
      /* whoever ends the server ends its child, and whoever ends the child ends what it has started */
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent)
        _exit(0);
      setpgid(0, 0);
      top = (uintptr_t)__builtin_frame_address(0);
      __quagmire_lowest_stack = top;
      served->heap.counting = 1;
      return;
    }
    int32_t answer = (int32_t)child;
    if (transfer(QGM_ANSWERS, &answer, sizeof answer, 0) != 0)
      _exit(0);
    int status = 0;
    if (child > 0) {
      struct rusage usage;
      while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;
      served->cycles = time_stamp() - served->began;
      served->heap.counting = 0;
      served->time_ns = (microseconds(usage.ru_utime) + microseconds(usage.ru_stime)) * 1000;
      kill(-child, SIGKILL);
    }
    if (transfer(QGM_ANSWERS, &status, sizeof status, 0) != 0)
      _exit(0);
  }
}

/* After the constructors of the program's own objects, which come before this one in the command line, and of all
   libraries. */
__attribute__((constructor)) static void start(void) {
  const char *descriptor = getenv(QGM_SERVE);
  if (!descriptor)
    return;
  int file = atoi(descriptor);
  unsetenv(QGM_SERVE);
  void *mapped = mmap(NULL, QGM_SERVED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED)
    return;
  served = mapped;
  uint64_t wanted = served->abi;
  served->abi = QGM_ABI;
  served->modules = (uint64_t)&__quagmire_modules;
  served->bytes = QGM_SERVED_BYTES;
  enum qgm_ready ready = QGM_READY;
  for (uint64_t i = 0; wanted == QGM_ABI && ready == QGM_READY && i < __quagmire_modules.count; i++)
    if (__quagmire_modules.module[i].functions_start)
      ready = share_module(file, &__quagmire_modules.module[i]);
  served->ready = (uint64_t)ready;
  close(file);
  __quagmire_heap = &served->heap;
  guard();
  serve();
}
