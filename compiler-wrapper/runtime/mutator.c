/* Linked into harnesses built with -fsanitize=fuzzer: mutation by the harness's own functions, as libFuzzer calls them, and
   what these call in turn. */
#include "inprocess.h"
#include "quagmire.h"
#include "sancov.h"

__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
__attribute__((weak)) size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                                                       uint8_t *out, size_t max_size, unsigned seed);
size_t quagmire_engine_mutate(uint8_t *data, size_t size, size_t max_size);

/* Havoc for mutators of the harness: changes `size` bytes in place. Strong, unlike the stand-in of libprotobuf-mutator. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
  __quagmire_enter_engine();
  size_t length = quagmire_engine_mutate(data, size, max_size);
  __quagmire_unpoison(data, length, 0);
  __quagmire_leave_engine();
  return length;
}

static enum qgm_status call_mutator(void *argument) {
  struct qgm_mutation *one = argument;
  __quagmire_unpoison(one->out, one->size, 4);
  one->size = LLVMFuzzerCustomMutator(one->out, one->size, one->max_size, (unsigned)one->seed);
  return QGM_RETURNED;
}

static enum qgm_status call_cross_over(void *argument) {
  struct qgm_mutation *one = argument;
  __quagmire_unpoison(one->other, one->other_size, 0);
  __quagmire_unpoison(one->data, one->size, 7);
  one->size = LLVMFuzzerCustomCrossOver(one->data, one->size, one->other, one->other_size, one->out, one->max_size,
                                        (unsigned)one->seed);
  return QGM_RETURNED;
}

/* Calls a function of the harness. Its counts are to be cleared: those in 8-bit counters are collected for that. */
static enum qgm_status call(enum qgm_status (*function)(void *), struct qgm_mutation *one) {
  enum qgm_status status = __quagmire_guarded(function, one);
  __quagmire_sancov_collect();
  return status;
}

static enum qgm_status mutate(struct qgm_mutation *one) { return call(call_mutator, one); }

static enum qgm_status cross_over(struct qgm_mutation *one) { return call(call_cross_over, one); }

qgm_mutate_function *__quagmire_mutate(void) { return LLVMFuzzerCustomMutator ? mutate : NULL; }

qgm_mutate_function *__quagmire_cross_over(void) { return LLVMFuzzerCustomCrossOver ? cross_over : NULL; }
