/* Part of the fork server: diversity of the runs that one of AFL++'s tools asks for. The server adds each run to a set of
   fingerprints of traces, of fixed size, and to the numbers of unique valid traces that cover each branch. A second process
   writes the figures every few seconds and when the server has ended: AFL++ kills its servers. Children that run
   the target do not have this memory. */
#include "machine.h"

#include "afl.h"
#include "counts.h"
#include "run.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define SECONDS_BETWEEN 5

/* 16 MB; three quarters at most are used. */
#define SLOTS (1u << 21)
#define MOST_TRACES (SLOTS / 4 * 3)
/* Bit of a slot that says whether a valid run had the trace; the other bits are the fingerprint. */
#define VALID ((uint64_t)1)

/* Shared by the server, which counts, and the process that writes. */
static struct found {
  volatile unsigned long long runs, valid, traces, valid_traces, is_full;
  uint64_t trace; /* of the run that has just ended */
  uint64_t slot[SLOTS];
  uint32_t covering[]; /* of each edge, the number of unique valid traces that cover it */
} *found;

static unsigned class_of(uint32_t count) {
  unsigned bits = 32 - (unsigned)__builtin_clz(count | 1);
  /* AFL's buckets: 0, 1, 2, 3, 4-7, 8-15, 16-31, 32-127, more */
  return count < 4 ? count : bits < 6 ? bits + 1 : bits < 8 ? 7 : 8;
}

/* Part of a trace for an edge in this class: well mixed bits, by the last steps of SplitMix64. */
static uint64_t term(uint64_t edge, unsigned class) {
  uint64_t hash = ((edge << 32 ^ class) + 1) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
  return hash ^ hash >> 31;
}

static uint32_t count_of(const struct qgm_function *function, uint32_t edge) {
  return edge == 0 ? *function->entry : function->counts[edge - 1];
}

static void add_to_trace(const struct qgm_function *function, uint64_t first) {
  for (uint32_t edge = 0; edge + function->progress + function->charges < function->edges; edge++)
    if (count_of(function, edge))
      found->trace += term(first + edge, class_of(count_of(function, edge)));
}

static void cover(const struct qgm_function *function, uint64_t first) {
  for (uint32_t edge = 0; edge + function->progress + function->charges < function->edges; edge++)
    found->covering[first + edge] += count_of(function, edge) != 0;
}

/* The slot that holds a fingerprint, or the free one for it. */
static uint64_t *slot_of(uint64_t fingerprint) {
  uint64_t at = fingerprint >> 1;
  while (found->slot[at % SLOTS] && (found->slot[at % SLOTS] & ~VALID) != fingerprint)
    at++;
  return &found->slot[at % SLOTS];
}

void __quagmire_diversity_add(int status) {
  if (!found)
    return;
  int is_rejected = __quagmire_served->looped == QGM_WENT_REJECT;
  __quagmire_served->looped = QGM_ENDED;
  found->runs++;
  /* a run that was cut off has no trace */
  if (WIFSIGNALED(status))
    return;
  int is_valid = !is_rejected && (WIFSTOPPED(status) || WEXITSTATUS(status) == 0);
  found->valid += (unsigned)is_valid;
  found->trace = 0;
  __quagmire_for_all_that_ran(add_to_trace);
  uint64_t fingerprint = found->trace & ~VALID ? found->trace & ~VALID : 2;
  uint64_t *slot = slot_of(fingerprint);
  if (!*slot) {
    if (found->traces >= MOST_TRACES) {
      found->is_full = 1;
      return;
    }
    *slot = fingerprint;
    found->traces++;
  }
  if (is_valid && !(*slot & VALID)) {
    *slot |= VALID;
    found->valid_traces++;
    __quagmire_for_all_that_ran(cover);
  }
}

/* The natural logarithm of a number of at least 1, and the exponential of one of at least 0: the program may not be linked
   with the library that has them. */
static const double ln_2 = 0.69314718055994530942;

static double logarithm(double x) {
  if (x >= 1.5)
    return ln_2 + logarithm(x / 2);
  /* at most 0.2 */
  double z = (x - 1) / (x + 1), power = 2 * z, result = 0;
  for (int i = 1; i < 27; i += 2, power *= z * z)
    result += power / i;
  return result;
}

static double exponential(double x) {
  if (x > ln_2)
    return 2 * exponential(x - ln_2);
  double power = 1, result = 1;
  for (int i = 1; i < 20; i++)
    result += power *= x / i;
  return result;
}

/* Writes the figures to a file, which then replaces the last one. */
static void write_figures(const char *file, const char *temporary) {
  unsigned long long b0 = 0;
  double sum = 0, squares = 0, logarithms = 0;
  for (uint64_t edge = 0; edge < __quagmire_all_edges; edge++) {
    double covering = found->covering[edge];
    if (covering == 0)
      continue;
    b0++;
    sum += covering;
    squares += covering * covering;
    logarithms += covering * logarithm(covering);
  }
  /* in millionths: locales have decimal points of their own */
  unsigned long long b1 = sum > 0 ? (unsigned long long)(exponential(logarithm(sum) - logarithms / sum) * 1e6 + 0.5) : 0;
  unsigned long long b2 = sum > 0 ? (unsigned long long)(sum * sum / squares * 1e6 + 0.5) : 0;
  int to = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (to < 0)
    return;
  int length = dprintf(to,
                       "{\"trace\": \"bucketed\", \"runs\": %llu, \"valid\": %llu, \"unique_traces\": %llu, "
                       "\"unique_valid_traces\": %llu, \"b0\": %llu, \"b1\": %llu.%06llu, \"b2\": %llu.%06llu, "
                       "\"is_full\": %s}\n",
                       found->runs, found->valid, found->traces, found->valid_traces, b0, b1 / 1000000, b1 % 1000000,
                       b2 / 1000000, b2 % 1000000, found->is_full ? "true" : "false");
  if (close(to) != 0 || length <= 0 || rename(temporary, file) != 0)
    unlink(temporary);
}

/* The process that writes. It ends with the server; somebody may end it earlier (SIGTERM). */
static _Noreturn void keep_writing(const char *file, const char *temporary) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, NULL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  call_system(SYS_close, QGM_REQUESTS, 0, 0);
  call_system(SYS_close, QGM_ANSWERS, 0, 0);
  setsid(); /* signals for the group are for the others */
  const struct timespec between = {.tv_sec = SECONDS_BETWEEN};
  for (;;) {
    int is_over = getppid() != __quagmire_server || sigtimedwait(&ends, NULL, &between) == SIGTERM;
    /* a server without runs leaves the figures of the last one */
    if (found->runs)
      write_figures(file, temporary);
    if (is_over)
      __quagmire_leave(0);
  }
}

static _Noreturn void refuse(const char *file, const char *problem) {
  dprintf(2, "quagmire: " QGM_DIVERSITY "=%s: %s\n", file, problem);
  __quagmire_leave(1);
}

void __quagmire_diversity_start(void) {
  const char *file = getenv(QGM_DIVERSITY);
  if (!file || !*file)
    return;
  if (__quagmire_afl_child_fills)
    refuse(file, "the counts of this program cannot be shared; link all of it with quagmire-cc, or unset the variable");
  char temporary[PATH_MAX];
  snprintf(temporary, sizeof temporary, "%s.%d", file, (int)getpid());
  int to = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (to < 0 || close(to) != 0 || unlink(temporary) != 0)
    refuse(file, "cannot be written; name a file in a folder that exists and is yours");
  size_t length = sizeof *found + __quagmire_all_edges * sizeof found->covering[0];
  found = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t writer = found != MAP_FAILED ? __quagmire_fork_child() : -1;
  if (writer < 0)
    refuse(file, "no memory or process for it; raise the limits, as of afl-fuzz -m");
  if (writer == 0)
    keep_writing(file, temporary);
  madvise(found, length, MADV_DONTFORK);
}
