/* Linked into programs with QUAGMIRE_MUTANTS=performance: where charges go, and the mutant that really costs time. */
#include "machine.h"

#include "performance.h"

#include <sys/mman.h>

const enum qgm_mutants_kind __quagmire_mutants_kind = QGM_PERFORMANCE;

/* As in passes/performance/emitter.h. */
static const uint64_t gates[QGM_GATES] = {0, 16, 256, 4096};

/* Instructions of this process, of all its threads together: not exact if several of them run at a time. A page of its own,
   for which a charging run has that of the server. */
__attribute__((aligned(QGM_INSTRUCTIONS_BYTES))) uint64_t __quagmire_instructions[QGM_INSTRUCTIONS_BYTES / sizeof(uint64_t)];

/* Called by the constructor of each object with such mutants. */
void __quagmire_register_performance(const struct qgm_mutant_function *start, const struct qgm_mutant_function *stop) {
  __quagmire_add_mutants(start, stop);
}

/* Spends the time of so many instructions. */
void __quagmire_burn(uint64_t instructions) {
  for (uint64_t i = 0; i < instructions; i++)
    __asm__ volatile("" : "+r"(i));
}

static uint64_t sites(const struct qgm_mutant_function *function) { return function->mutants / QGM_GATES; }

uint64_t __quagmire_probe_bytes(void) {
  return QGM_INSTRUCTIONS_BYTES + __quagmire_mutants() / QGM_GATES * QGM_SITE_WORDS * sizeof(uint64_t);
}

void __quagmire_probe_mutants(uint8_t *bytes) {
  uint64_t *words = (uint64_t *)(bytes + QGM_INSTRUCTIONS_BYTES);
  for (unsigned i = 0; i < __quagmire_mutant_objects_count; i++) {
    const struct qgm_mutants_object *object = &__quagmire_mutant_objects[i];
    for (const struct qgm_mutant_function *f = object->start; f != object->stop; f++) {
      ((struct qgm_performance_state *)f->state)->words = words;
      words += sites(f) * QGM_SITE_WORDS;
    }
  }
  /* the same page a second time */
  mremap(bytes, 0, QGM_INSTRUCTIONS_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, __quagmire_instructions);
}

void __quagmire_select_in(const struct qgm_mutant_function *function, uint32_t number) {
  if (number < function->mutants)
    ((struct qgm_performance_state *)function->state)->past[number / QGM_GATES] = gates[number % QGM_GATES];
}
