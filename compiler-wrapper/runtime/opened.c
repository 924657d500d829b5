/* Part of the fork server: libraries that the program opens at run time. A child that opens one stores its path in the
   memory shared with the fuzzer. After the run the fuzzer asks the server to open it too: from then on its counts are
   shared, and it is already open in each child. */
#include "machine.h"

#include "counts.h"
#include "run.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* In libdl with older C libraries: programs that open libraries link it. */
extern __typeof(dlopen) dlopen __attribute__((weak));
extern __typeof(dladdr) dladdr __attribute__((weak));

/* Longest time for opening a library, in milliseconds. */
#define LONGEST_OPENING 2000

/* Whether a path is in the list, whose length is `end`. */
static int is_listed(const char *path, uint64_t end) {
  for (uint64_t at = 0; at < end; at += strlen(__quagmire_served->libraries + at) + 1)
    if (strcmp(__quagmire_served->libraries + at, path) == 0)
      return 1;
  return 0;
}

void __quagmire_registered(const struct qgm_module *module) {
  if (__quagmire_mode != QGM_QUAGMIRE || !__quagmire_server || getpid() == __quagmire_server)
    return;
  Dl_info is;
  if (!dladdr || !dladdr(module->functions_start, &is) || !is.dli_fname)
    return;
  /* as it was opened, without links followed: $ORIGIN in a library depends on it */
  char path[QGM_PATH_BYTES] = "";
  if (is.dli_fname[0] != '/') {
    if (call_system(SYS_getcwd, (long)path, sizeof path - 1, 0) <= 0 || path[0] != '/')
      return;
    strcat(path, "/");
  }
  size_t directory = strlen(path), length = directory + strlen(is.dli_fname) + 1;
  if (length > sizeof path)
    return;
  strcpy(path + directory, is.dli_fname);
  /* processes that the child has forked may write at the same time */
  if (__atomic_exchange_n(&__quagmire_served->libraries_locked, 1, __ATOMIC_ACQUIRE))
    return;
  uint64_t end = __quagmire_served->libraries_end;
  if (end <= sizeof __quagmire_served->libraries - length && !is_listed(path, end)) {
    memcpy(__quagmire_served->libraries + end, path, length);
    /* the child may be killed at any moment: the list grows by complete paths only */
    __atomic_store_n(&__quagmire_served->libraries_end, end + length, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&__quagmire_served->libraries_locked, 0, __ATOMIC_RELEASE);
}

static void open_library(const char *path) { dlopen(path, RTLD_NOW | RTLD_LOCAL); }

/* Whether a library can be opened in the server, tried in a process of its own: a constructor may crash before main, end the
   process, block, or start threads, which children would not have; and its counts have to be on pages of their own. */
static int can_be_opened(const char *path) {
  __quagmire_served->library_opens = 0;
  pid_t trial = __quagmire_fork_child();
  if (trial == 0) {
    __quagmire_mode = QGM_ALONE;
    close(QGM_REQUESTS);
    close(QGM_ANSWERS);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != __quagmire_server)
      __quagmire_leave(0);
    setpgid(0, 0);
    uint64_t known = __quagmire_modules.count;
    open_library(path);
    int opens = __quagmire_modules.count > known;
    for (; known < __quagmire_modules.count; known++) {
      struct qgm_region region[2];
      const struct qgm_module *module = &__quagmire_modules.module[known];
      int count = module->functions_start ? __quagmire_regions_of(module, region) : 0;
      while (count-- > 0)
        opens &= region[count].address % QGM_PAGE == 0;
    }
    /* one folder per thread, plus `.` and `..` */
    struct stat threads;
    opens &= stat("/proc/self/task", &threads) == 0 && threads.st_nlink <= 3;
    __quagmire_served->library_opens = (uint64_t)opens;
    __quagmire_leave(0);
  }
  if (trial < 0)
    return 0;
  for (int waited = 0; waitpid(trial, NULL, WNOHANG) == 0; waited++) {
    if (waited >= LONGEST_OPENING)
      kill(trial, SIGKILL);
    usleep(1000);
  }
  __quagmire_kill_group(trial);
  return __quagmire_served->library_opens != 0;
}

void __quagmire_open_libraries(void) {
  static uint64_t seen;
  uint64_t end = __atomic_load_n(&__quagmire_served->libraries_end, __ATOMIC_ACQUIRE);
  end = end < sizeof __quagmire_served->libraries ? end : sizeof __quagmire_served->libraries;
  while (seen < end) {
    char path[QGM_PATH_BYTES] = "";
    size_t length = strnlen(__quagmire_served->libraries + seen, end - seen);
    if (length < sizeof path)
      memcpy(path, __quagmire_served->libraries + seen, length);
    seen += length + 1;
    uint64_t known = __quagmire_modules.count;
    if (path[0] == '/' && dlopen && can_be_opened(path))
      open_library(path);
    for (; known < __quagmire_modules.count; known++)
      if (__quagmire_share_module(known) != QGM_READY)
        __quagmire_modules.module[known] = (struct qgm_module){0};
  }
  __quagmire_forget_closed();
}
