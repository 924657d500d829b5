/* Linked into harnesses built with -fsanitize=fuzzer: counters of the harness's own, bytes in the section that libFuzzer reads.
   They are edges of a function of their own, which stand for no instructions. */
#include "inprocess.h"
#include "quagmire.h"

#include <stdlib.h>
#include <string.h>

extern uint8_t __start___libfuzzer_extra_counters[] __attribute__((weak));
extern uint8_t __stop___libfuzzer_extra_counters[] __attribute__((weak));

static size_t number;
static uint32_t entry, *counts;
static struct qgm_function function;

__attribute__((constructor)) static void add(void) {
  size_t there = (size_t)(__stop___libfuzzer_extra_counters - __start___libfuzzer_extra_counters);
  if (there == 0 || there >= UINT32_MAX)
    return;
  size_t edges = there + 1;
  counts = calloc(there, sizeof *counts);
  uint32_t *weights = calloc(2 * edges, sizeof *weights);
  if (!counts || !weights)
    return;
  /* no instructions; each is one edge, but for the entry */
  for (size_t i = 1; i < edges; i++)
    weights[edges + i] = 1;
  number = there;
  function = (struct qgm_function){
      .entry = &entry,
      .counts = counts,
      .weights = weights,
      .address = __start___libfuzzer_extra_counters,
      .edges = (uint32_t)edges,
  };
  __quagmire_register_module((struct qgm_module){
      .functions_start = &function,
      .functions_stop = &function + 1,
      .entries_start = &entry,
      .entries_stop = &entry + 1,
      .source = QGM_EXTRA,
  });
}

void __quagmire_clear_extra(void) {
  if (number)
    memset(__start___libfuzzer_extra_counters, 0, number);
}

void __quagmire_fold_extra(void) {
  for (size_t i = 0; i < number; i++)
    counts[i] += __start___libfuzzer_extra_counters[i];
  entry += number != 0;
}
