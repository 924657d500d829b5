/* Reads the progress slots of a function from the tables of the runtime. */
#include "quagmire.h"

/* not counted itself */
#define OUTSIDE __attribute__((disable_sanitizer_instrumentation, noinline, unused)) static

OUTSIDE const struct qgm_function *found(void *function) {
  for (uint64_t m = 0; m < __quagmire_modules.count; m++) {
    const struct qgm_module *module = &__quagmire_modules.module[m];
    for (const struct qgm_function *f = module->functions_start; f < module->functions_stop; f++)
      if (f->entry && f->address == function)
        return f;
  }
  return NULL;
}

OUTSIDE void clear_slots(void *function) {
  const struct qgm_function *f = found(function);
  for (uint32_t edge = f->edges - f->charges - f->progress; edge < f->edges - f->charges; edge++)
    f->counts[edge - 1] = 0;
}

/* How many are hit; each is 0 or 1. */
OUTSIDE unsigned slots_hit(void *function) {
  const struct qgm_function *f = found(function);
  unsigned hit = 0;
  for (uint32_t edge = f->edges - f->charges - f->progress; edge < f->edges - f->charges; edge++)
    hit += f->counts[edge - 1] <= 1 ? f->counts[edge - 1] : 1000;
  return hit;
}

/* Of the whole program so far. */
OUTSIDE uint64_t instructions(void) {
  uint64_t sum = 0;
  for (uint64_t m = 0; m < __quagmire_modules.count; m++) {
    const struct qgm_module *module = &__quagmire_modules.module[m];
    for (const struct qgm_function *f = module->functions_start; f < module->functions_stop; f++)
      for (uint32_t edge = 0; f->entry && edge < f->edges - f->charges - f->progress; edge++)
        sum += (uint64_t)(edge == 0 ? *f->entry : f->counts[edge - 1]) * f->weights[edge];
  }
  return sum;
}
