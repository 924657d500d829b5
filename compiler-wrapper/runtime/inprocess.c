/* Linked into harnesses built with -fsanitize=fuzzer: the way into the engine, and the recovery from runs of the target that
   crash, exit or hang, without ending the process. */
#include "machine.h"

#include "inprocess.h"
#include "comparisons.h"
#include "draws.h"
#include "quagmire.h"
#include "sancov.h"
#include "serve.h"
#include "threads.h"
#include "window.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) void *__asan_region_is_poisoned(void *begin, size_t size);
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                                                    void (*freed)(const volatile void *));
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *block);
__attribute__((weak)) int __sanitizer_acquire_crash_state(void);
__attribute__((weak)) void __msan_unpoison(const volatile void *data, size_t size);
__attribute__((weak)) void __msan_unpoison_param(size_t number);
int quagmire_engine_main(int argc, char **argv, const struct qgm_harness *harness);

/* Mark by which `quagmire fuzz` recognises a harness from its file. */
__attribute__((used, section(".note.quagmire"))) static const char mark[] = "quagmire in-process harness, abi 16";

/* Signal of the timer, which targets have no reason to use, unlike SIGALRM. */
#define TIMER_SIGNAL (SIGRTMIN + 7)

static jmp_buf back;
static volatile sig_atomic_t armed;
/* Set in children that the target forked, which must never return to the engine. */
static volatile sig_atomic_t forked;
static volatile sig_atomic_t exiting; /* destructors are running */
static volatile sig_atomic_t in_engine; /* the runner is in code of the engine that the target has called */
static volatile sig_atomic_t in_tick;   /* the timer's callback runs: its signal may come meanwhile (see `handle`) */
static volatile sig_atomic_t overdue;   /* enum qgm_status with which to leave the run after that; QGM_RETURNED for none */
static volatile uint64_t run_number;
static volatile uint64_t ticks;
static struct qgm_event event;
static pthread_t runner;
static enum qgm_status (*on_timer)(uint64_t);
/* Called where a run ends early, if that is to end the process. */
static void (*on_end)(enum qgm_status, const struct qgm_event *);
static uint64_t largest_allocation = UINT64_MAX;
static unsigned known_threads; /* number of other threads after the last run */

/* Request of another thread to end the run that it is in: only the runner can leave a run. */
static struct {
  uint64_t claimed;
  volatile uint64_t run;
  enum qgm_status status;
  struct qgm_event why;
} asked;

int __quagmire_is_counted(void) { return !forked && !exiting; }

/* Makes the runner leave the run `number` if that is still on, and waits for ever. Only the first request counts. */
static _Noreturn void ask_to_leave(uint64_t number, enum qgm_status status, struct qgm_event why) {
  if (__atomic_exchange_n(&asked.claimed, number, __ATOMIC_SEQ_CST) != number) {
    asked.status = status;
    asked.why = why;
    __atomic_store_n(&asked.run, number, __ATOMIC_SEQ_CST);
    pthread_kill(runner, TIMER_SIGNAL);
  }
  for (;;)
    pause();
}

/* Ends the run `number`, in which the caller is. */
static _Noreturn void leave(uint64_t number, enum qgm_status status, struct qgm_event why) {
  if (on_end) {
    armed = 0;
    __quagmire_heap->counting = 0;
    on_end(status, &why);
  }
  if (!pthread_equal(pthread_self(), runner))
    ask_to_leave(number, status, why);
  event = why;
  armed = 0;
  in_engine = in_tick = 0;
  __quagmire_heap->counting = 0;
  longjmp(back, status);
}

void __quagmire_enter_engine(void) {
  if (pthread_equal(pthread_self(), runner)) {
    overdue = QGM_RETURNED;
    in_engine = 1;
  }
}

void __quagmire_leave_engine(void) {
  if (pthread_equal(pthread_self(), runner)) {
    in_engine = 0;
    if (armed && overdue != QGM_RETURNED)
      leave(run_number, (enum qgm_status)overdue, (struct qgm_event){0});
  }
}

static struct qgm_resources resources;
static struct qgm_draws draws;
static struct qgm_comparisons comparisons;
/* Section that the headers of generators leave in the program. */
extern const char __start_qgm_draws[] __attribute__((weak, visibility("hidden")));
/* Where the stack and the time of the run begin. */
static uintptr_t top;
static uint64_t before;
static int (*test_one_input)(const uint8_t *data, size_t size);

/* What the target gets in a run. */
struct input {
  const uint8_t *data;
  size_t size;
  const uint8_t *original; /* the engine's, if that is a copy */
};

enum qgm_status __quagmire_guarded(enum qgm_status (*code)(void *), void *argument) {
  int left = _setjmp(back);
  if (left != QGM_RETURNED)
    return (enum qgm_status)left;
  ticks = 0;
  run_number++;
  armed = 1;
  enum qgm_status status = code(argument);
  if (forked)
    for (;;)
      syscall(SYS_exit_group, 0);
  armed = 0;
  return status;
}

void __quagmire_unpoison(const void *data, size_t size, size_t parameters) {
  if (!__msan_unpoison)
    return;
  __msan_unpoison(data, size);
  if (__msan_unpoison_param)
    __msan_unpoison_param(parameters);
}

void __quagmire_begin_target(const void *frame) {
  if (!armed || forked)
    return;
  __quagmire_sancov_collect();
  __quagmire_forget_counts();
  __quagmire_clear_extra();
  /* the next tick is the first one: what was counted until now is forgotten there too */
  ticks = 0;
  *__quagmire_heap = (struct qgm_heap){.counting = 1};
  top = __sancov_lowest_stack = (uintptr_t)frame;
  __quagmire_begin_stack(top);
  uint64_t now = time_stamp();
  draws.generator_cycles = now - before;
  before = now;
}

static enum qgm_status run_input(void *argument) {
  const struct input *input = argument;
  __quagmire_draw_from(input->data, input->size, input->original);
  __quagmire_unpoison(input->data, input->size, 2);
  __quagmire_heap->counting = 1;
  int result = test_one_input(input->data, input->size);
  __quagmire_heap->counting = 0;
  return result == -1 ? QGM_REJECTED : QGM_RETURNED;
}

/* Runs the target once, and measures what the run used, however it ended. */
static enum qgm_status run(const uint8_t *data, size_t size) {
  top = (uintptr_t)__builtin_frame_address(0);
  __quagmire_begin_stack(top);
  __sancov_lowest_stack = top;
  *__quagmire_heap = (struct qgm_heap){0};
  __quagmire_clear_extra();
  __quagmire_begin_draws();
  __quagmire_begin_comparisons();
  before = time_stamp();
  /* AddressSanitizer sees a read past the end only of a block of its own. */
  uint8_t *copy = __asan_region_is_poisoned ? malloc(size) : NULL;
  if (copy)
    memcpy(copy, data, size);
  struct input input = {copy ? copy : data, size, data};
  enum qgm_status status = __quagmire_guarded(run_input, &input);
  __quagmire_end_comparisons();
  if (status == QGM_RETURNED || status == QGM_REJECTED)
    free(copy);
  resources.cycles = time_stamp() - before;
  __quagmire_end_draws();
  __quagmire_fold_extra();
  __quagmire_heap->counting = 0;
  resources.heap_peak = (uint64_t)__quagmire_heap->peak;
  resources.heap_total = __quagmire_heap->total;
  uintptr_t lowest = __quagmire_lowest_stack < __sancov_lowest_stack ? __quagmire_lowest_stack : __sancov_lowest_stack;
  resources.stack = top - lowest;
  /* what the engine runs between the target's runs is not compiled by the pass, but constructors and callbacks may be */
  __quagmire_begin_stack(0);
  __sancov_lowest_stack = 0;
  __quagmire_sancov_collect();
  __quagmire_count_active();
  unsigned threads = threads_after(known_threads);
  resources.threads = threads > known_threads ? threads - known_threads : 0;
  known_threads = threads;
  /* another thread was about to end the run when it ended */
  if (asked.run == run_number && (status == QGM_RETURNED || status == QGM_REJECTED)) {
    event = asked.why;
    status = asked.status;
  }
  return status;
}

/* Whether a thread that wants to end, or has crashed, is the target's: in a run, or beside the engine. */
static int is_of_target(void) { return !forked && (armed || (on_timer && !pthread_equal(pthread_self(), runner))); }

static void crashed(int signal, siginfo_t *info, void *context) {
  uint64_t number = run_number;
  if (!is_of_target()) {
    /* Not a run of this process: die of the signal as without a handler. */
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigaction(signal, &normal, NULL);
    raise(signal);
    return;
  }
  /* a sanitizer that has reported the crash ends the process by this signal */
  if (on_end && __sanitizer_acquire_crash_state && !__sanitizer_acquire_crash_state()) {
    armed = 0;
    return;
  }
  leave(number, QGM_CRASHED,
        (struct qgm_event){.signal = signal, .pc = program_counter(context), .address = (uint64_t)info->si_addr});
}

static void timer_expired(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  if (in_tick)
    return;
  int saved = errno;
  int running = armed && !forked;
  in_tick = 1;
  struct qgm_event why = {.pc = program_counter(context)};
  event.pc = running ? why.pc : event.pc;
  enum qgm_status status = on_timer(running ? ++ticks : 0);
  if (running && asked.run == run_number) {
    status = asked.status;
    why = asked.why;
  }
  /* not in the middle of a change of the list of objects: there will be another tick */
  if (running && status != QGM_RETURNED && in_engine)
    overdue = status;
  else if (running && status != QGM_RETURNED && !(__quagmire_modules.generation & 1))
    leave(run_number, status, why);
  /* until here, since a sanitizer takes a lock before a function that does not return: another tick would leave from within */
  in_tick = 0;
  errno = saved;
}

/* Callback of a sanitizer that has printed its report and is about to end the process. */
static void dying(void) {
  uint64_t number = run_number;
  if (is_of_target())
    leave(number, QGM_CRASHED, (struct qgm_event){0});
}

/* Hooks of a sanitizer's allocator, with which heap.c is not linked. */
static void allocated(const volatile void *block, size_t size) {
  if (!__quagmire_heap->counting || !block)
    return;
  __quagmire_heap_take(size, size);
  if (UNLIKELY(__quagmire_recording == QGM_ON))
    __quagmire_allocated(__builtin_return_address(0), size);
  if (size >= largest_allocation)
    leave(run_number, QGM_MEMORY, (struct qgm_event){.exit_code = (int64_t)size});
}

static void freed(const volatile void *block) {
  if (__quagmire_heap->counting && block)
    __quagmire_heap->current -= (int64_t)__sanitizer_get_allocated_size(block);
}

static void in_child(void) {
  if (armed)
    forked = 1;
}

/* Whether a sanitizer, or the target, handles a signal by now. */
static int is_handled(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_DFL;
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action = {.sa_sigaction = handler};
  /* The handler may not return: without SA_NODEFER its signal would stay blocked. */
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, NULL);
}

static void guard(uint64_t interval_ns, enum qgm_status (*callback)(uint64_t)) {
  runner = pthread_self();
  on_timer = callback;
  known_threads = other_threads();

  size_t size = 256 * 1024;
  stack_t stack = {0};
  stack.ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = size;
  if (stack.ss_sp != MAP_FAILED)
    sigaltstack(&stack, NULL);

  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
    if (!on_end || !is_handled(fatal[i]))
      handle(fatal[i], crashed);
  handle(TIMER_SIGNAL, timer_expired);
  signal(SIGPIPE, SIG_IGN);
  pthread_atfork(NULL, NULL, in_child);
  if (__sanitizer_set_death_callback && !on_end)
    __sanitizer_set_death_callback(dying);
  if (__sanitizer_install_malloc_and_free_hooks && __sanitizer_get_allocated_size)
    __sanitizer_install_malloc_and_free_hooks(allocated, freed);

  /* One timer for the whole campaign: a system call per execution would cost more than a small target. */
  struct sigevent how = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMER_SIGNAL};
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
  how.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &how, &timer) == 0) {
    struct itimerspec when;
    when.it_interval.tv_sec = (time_t)(interval_ns / 1000000000u);
    when.it_interval.tv_nsec = (long)(interval_ns % 1000000000u);
    when.it_value = when.it_interval;
    timer_settime(timer, 0, &when, NULL);
  }
}

static void end_process(void (*ended)(enum qgm_status, const struct qgm_event *)) { on_end = ended; }

static void limit_allocations(uint64_t bytes) { largest_allocation = bytes; }

/* A target that ends its process ends its run instead. Outside a run these do what they always do. */
static void exited(int code) {
  uint64_t number = run_number;
  if (is_of_target())
    leave(number, QGM_EXITED, (struct qgm_event){.exit_code = code});
}

void _exit(int code) {
  exited(code);
  for (;;)
    syscall(SYS_exit_group, code);
}

void _Exit(int code) { _exit(code); }

static _Noreturn void really(const char *name, int code) {
  exiting = 1;
  void (*next)(int) = (void (*)(int))dlsym(RTLD_NEXT, name);
  if (next)
    next(code);
  fflush(NULL);
  _exit(code);
}

void exit(int code) {
  exited(code);
  really("exit", code);
}

void quick_exit(int code) {
  exited(code);
  really("quick_exit", code);
}

/* Errors reach the engine as signals or through the death callback; leaks are not what it looks for, and nobody reads
   the reports (ASAN_OPTIONS=symbolize=1 with --debug-target does). */
__attribute__((weak)) const char *__asan_default_options(void) {
  return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:detect_leaks=0:"
         "detect_stack_use_after_return=0:allocator_may_return_null=1:symbolize=0";
}
__attribute__((weak)) const char *__ubsan_default_options(void) { return "handle_segv=0:handle_abort=0:symbolize=0"; }

/* What a fork server brings for __AFL_INIT() and its relatives: a library that uses them can be linked to a harness. */
void __quagmire_init(const char *sign) { (void)sign; }

int __quagmire_loop(const char *sign, unsigned rounds) {
  static int is_done;
  (void)sign, (void)rounds;
  return !is_done++;
}

unsigned char *__quagmire_testcase(void) { return NULL; }

int __quagmire_testcase_size(void) { return 0; }

/* For programs that look whether they are linked with a fuzzer of this interface. */
void __libfuzzer_is_present(void) {}

static int *the_argc;
static char ***the_argv;

/* The harness may change both, but not the name. The engine has read its options before. */
static int initialize(void) {
  int result = LLVMFuzzerInitialize ? LLVMFuzzerInitialize(the_argc, the_argv) : 0;
  __quagmire_sancov_collect();
  return result;
}

/* Fuzzes `callback` as the options say, and returns the exit code of the process. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size)) {
  __quagmire_sancov_start();
  __quagmire_draws = &draws;
  __quagmire_comparisons = &comparisons;
  draws.are_used = __start_qgm_draws != NULL;
  test_one_input = callback;
  the_argc = argc;
  the_argv = argv;
  const struct qgm_harness harness = {
      .abi = QGM_ABI,
      .modules = &__quagmire_modules,
      .initialize = initialize,
      .run = run,
      .event = &event,
      .guard = guard,
      .ticks_in_run = &ticks,
      .resources = &resources,
      .mutate = __quagmire_mutate(),
      .cross_over = __quagmire_cross_over(),
      .end_process = end_process,
      .limit_allocations = limit_allocations,
      .comparisons = &comparisons,
      .is_sanitized = __sanitizer_set_death_callback != NULL,
      .draws = &draws,
  };
  int code = quagmire_engine_main(*argc, *argv, &harness);
  exiting = 1;
  return code;
}
