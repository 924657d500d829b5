/* Linked into programs with QUAGMIRE_MUTANTS=1: how a fault is chosen, and what probing copies note. */
#include "mutants.h"

const enum qgm_mutants_kind __quagmire_mutants_kind = QGM_FAULTS;

/* Called by the constructor of each object with such mutants. */
void __quagmire_register_mutants(const struct qgm_mutant_function *start, const struct qgm_mutant_function *stop) {
  __quagmire_add_mutants(start, stop);
}

uint64_t __quagmire_probe_bytes(void) { return __quagmire_mutants(); }

void __quagmire_probe_mutants(uint8_t *bytes) {
  for (unsigned i = 0; i < __quagmire_mutant_objects_count; i++) {
    const struct qgm_mutants_object *object = &__quagmire_mutant_objects[i];
    for (const struct qgm_mutant_function *f = object->start; f != object->stop; f++) {
      struct qgm_mutant_state *state = f->state;
      state->probes = bytes;
      state->selected = QGM_PROBES;
      bytes += f->mutants;
    }
  }
}

void __quagmire_select_in(const struct qgm_mutant_function *function, uint32_t number) {
  if (number < function->mutants)
    ((struct qgm_mutant_state *)function->state)->selected = number + 1;
}
