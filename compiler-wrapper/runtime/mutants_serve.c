/* Linked into programs with mutants: their fork server. When `quagmire mutants` has started the program, main is
   reached only in children of this process, one for each run: of the original, of a mutant, or of the copies that probe. The
   server limits and kills its children itself, whatever a mutant does. */
#include "machine.h"

#include "mutants.h"
#include "objects.h"
#include "serve.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

/* Mark by which `quagmire` recognises the program from its file. */
__attribute__((used, section(".note.quagmire"))) static const char mark[] = "quagmire mutants, abi 3";

/* The section that __AFL_INIT leaves in the program, and harnesses do. */
extern const char __start_qgm_deferred[] __attribute__((weak, visibility("hidden")));

/* Sanitizers whose shadow memory is larger than any limit. */
extern void __asan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

/* What a run may write to one file, mutants in endless loops included. */
#define MOST_WRITTEN (64u << 20)

enum qgm_mode __quagmire_mode;
struct qgm_mutants_shared *__quagmire_mutants_shared;
static uint8_t *probes;
static int output = -1;
static int serves;

/* What the program had made of the signals that the server needs. */
static struct sigaction old_alarm, old_child;
static sigset_t old_mask;

static void wake(int signal) { (void)signal; }

/* Constructors may have ignored SIGCHLD, then there is nothing to wait for, or blocked the alarm. */
static void take_signals(void) {
  struct sigaction wakes = {.sa_handler = wake}, usual = {.sa_handler = SIG_DFL};
  sigset_t alarm;
  sigaction(SIGALRM, &wakes, &old_alarm);
  sigaction(SIGCHLD, &usual, &old_child);
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm, &old_mask);
}

static void give_signals_back(void) {
  sigaction(SIGALRM, &old_alarm, NULL);
  sigaction(SIGCHLD, &old_child, NULL);
  sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

static void repeat_alarm(uint64_t first_ns, uint64_t then_ns) {
  struct itimerval timer = {
      .it_interval = {(time_t)(then_ns / 1000000000), (suseconds_t)(then_ns / 1000 % 1000000)},
      .it_value = {(time_t)(first_ns / 1000000000), (suseconds_t)(first_ns / 1000 % 1000000)},
  };
  setitimer(ITIMER_REAL, &timer, NULL);
}

static uint64_t cpu_of(pid_t child) {
  clockid_t clock;
  return clock_getcpuclockid(child, &clock) == 0 ? clock_ns(clock) : 0;
}

/* Waits for the child, and kills it at its limits. An alarm that comes too early for the wait comes again. */
static void wait_for(pid_t child, const struct qgm_mutants_request *request, struct qgm_mutants_answer *answer) {
  uint64_t began = clock_ns(CLOCK_MONOTONIC), step = request->cpu_ns / 4 + 2000000;
  struct rusage used = {0};
  int status = 0;
  repeat_alarm(request->cpu_ns + 1000, step);
  while (wait4(child, &status, 0, &used) != child) {
    if (errno != EINTR)
      break;
    if (!answer->timed_out &&
        (cpu_of(child) >= request->cpu_ns || clock_ns(CLOCK_MONOTONIC) - began >= request->wall_ns)) {
      answer->timed_out = 1;
      kill(-child, SIGKILL);
      kill(child, SIGKILL);
    }
  }
  repeat_alarm(0, 0);
  /* what it has left behind */
  kill(-child, SIGKILL);
  answer->status = (uint64_t)status;
  answer->cpu_ns = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
                   (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

static void limit(int what, uint64_t most) {
  struct rlimit limit = {most, most};
  setrlimit(what, &limit);
}

/* Prepares the child that makes the run. */
static void become(const struct qgm_mutants_request *request, const uint32_t (*selected)[2]) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  give_signals_back();
  limit(RLIMIT_FSIZE, MOST_WRITTEN);
  limit(RLIMIT_CPU, request->cpu_ns / 1000000000 + 2);
  if (request->memory_bytes && !__asan_init && !__hwasan_init && !__msan_init && !__tsan_init)
    limit(RLIMIT_AS, request->memory_bytes);
  dup2(output, 1);
  dup2(output, 2);
  close(output);
  close(QGM_REQUESTS);
  close(QGM_ANSWERS);
  lseek(0, 0, SEEK_SET);
  if (request->run == QGM_RUN_PROBES)
    __quagmire_probe_mutants(probes);
  for (uint64_t i = 0; i < request->selected; i++)
    __quagmire_select_mutant(selected[i][0], selected[i][1]);
}

/* Answers requests. Returns in children only. */
static void serve(void) {
  static uint32_t selected[QGM_MUTANTS_SELECTED][2];
  struct qgm_mutants_request request;
  take_signals();
  while (transfer(QGM_REQUESTS, &request, sizeof request, 1) == 0) {
    if (request.selected > QGM_MUTANTS_SELECTED ||
        transfer(QGM_REQUESTS, selected, request.selected * sizeof *selected, 1) != 0)
      break;
    memset((void *)__quagmire_mutants_shared, 0, sizeof *__quagmire_mutants_shared);
    struct qgm_mutants_answer answer = {0};
    pid_t child = fork();
    if (child == 0) {
      become(&request, selected);
      return;
    }
    if (child < 0)
      break;
    setpgid(child, child);
    wait_for(child, &request, &answer);
    answer.rejected = __quagmire_mutants_shared->rejected;
    answer.observed = __quagmire_mutants_shared->observed;
    if (transfer(QGM_ANSWERS, &answer, sizeof answer, 0) != 0)
      break;
  }
  _exit(0);
}

/* Makes ready what runs share, writes the table, and serves. */
static void start(void) {
  uint64_t probed = __quagmire_probe_bytes() + 1;
  int64_t length = __quagmire_write_mutants(QGM_MUTANTS_TABLE);
  close(QGM_MUTANTS_TABLE);
  output = open("/proc/self/fd/192", O_WRONLY | O_APPEND | O_CLOEXEC);
  close(QGM_MUTANTS_OUTPUT);
  void *page = mmap(NULL, sizeof *__quagmire_mutants_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  void *bytes = MAP_FAILED;
  if (ftruncate(QGM_MUTANTS_PROBES, (off_t)probed) == 0)
    bytes = mmap(NULL, probed, PROT_READ | PROT_WRITE, MAP_SHARED, QGM_MUTANTS_PROBES, 0);
  close(QGM_MUTANTS_PROBES);
  if (page == MAP_FAILED || bytes == MAP_FAILED || length < 0 || output < 0)
    _exit(1);
  __quagmire_mutants_shared = page;
  probes = bytes;
  struct qgm_mutants_hello hello = {QGM_MUTANTS_ABI, __quagmire_mutants_kind, __quagmire_mutant_functions(), __quagmire_mutants(),
                                     (uint64_t)length};
  if (transfer(QGM_ANSWERS, &hello, sizeof hello, 0) != 0)
    _exit(1);
  serve();
}

/* After the constructors of the program's own objects, which come before this one in the command line, and of all libraries. */
__attribute__((constructor)) static void constructed(void) {
  serves = getenv(QGM_MUTANTS_SERVE) != NULL;
  unsetenv(QGM_MUTANTS_SERVE);
  /* the driver takes the input from the server, and not from the files that are named */
  __quagmire_mode = serves ? QGM_QUAGMIRE : QGM_ALONE;
  /* what is asked of the server does not depend on it */
  if (!serves)
    __quagmire_select_named_mutant();
  if (serves && !__start_qgm_deferred)
    start();
}

void __quagmire_init(const char *sign) {
  static int is_done;
  (void)sign;
  if (is_done || !__start_qgm_deferred)
    return;
  is_done = 1;
  if (serves)
    start();
}

/* One round: a run is a process. */
int __quagmire_loop(const char *sign, unsigned rounds) {
  static int is_done;
  (void)sign, (void)rounds;
  return is_done ? 0 : (is_done = 1);
}

static unsigned char *bytes;
static int size = -1;

/* Reads the input, or standard input if the program is run by hand. */
static void read_input(void) {
  struct stat file;
  if (size >= 0)
    return;
  size = 0;
  int from = serves ? QGM_INPUT : 0;
  size_t room = serves && fstat(from, &file) == 0 ? (size_t)file.st_size : 1 << 20;
  bytes = malloc(room ? room : 1);
  for (ssize_t more = 1; bytes && more > 0 && (size_t)size < room; size += more > 0 ? (int)more : 0)
    more = serves ? pread(from, bytes + size, room - (size_t)size, size) : read(from, bytes + size, room - (size_t)size);
}

unsigned char *__quagmire_testcase(void) {
  read_input();
  return bytes;
}

int __quagmire_testcase_size(void) {
  read_input();
  return size;
}

void __quagmire_reject(void) {
  if (__quagmire_mutants_shared)
    __quagmire_mutants_shared->rejected = 1;
}

/* What include/quagmire/observe.h calls. */
void __quagmire_observe(const void *data, size_t length) {
  if (!__quagmire_mutants_shared)
    return;
  uint64_t before = __quagmire_mutants_shared->observed;
  uint64_t hash = __quagmire_hash_bytes(before ? before : QGM_NO_HASH, data, length);
  /* where one value ends and the next begins */
  hash = (hash ^ length) * 0x100000001b3u;
  __quagmire_mutants_shared->observed = hash | 1;
}
