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

/* Hashes that stay as they are, by themselves; 0 where there is none: a hash of 0 is the same when it is degraded. A power of
   two, and twice the largest gate. */
#define KEPT 8192
static uint64_t kept[KEPT];
static uint64_t kept_count;

/* Whether a hash is one of the first `past` that differ from each other, in this process. */
static int is_kept(uint64_t hash, uint64_t past) {
  for (uint64_t i = hash * 0x9e3779b97f4a7c15u >> 51;; i++) {
    uint64_t *slot = &kept[i % KEPT], old = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (old == hash)
      return 1;
    if (old)
      continue;
    if (__atomic_fetch_add(&kept_count, 1, __ATOMIC_RELAXED) >= past) {
      __atomic_fetch_sub(&kept_count, 1, __ATOMIC_RELAXED);
      return 0;
    }
    /* another thread may have been here */
    if (__atomic_compare_exchange_n(slot, &old, hash, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return 1;
    __atomic_fetch_sub(&kept_count, 1, __ATOMIC_RELAXED);
    if (old == hash)
      return 1;
  }
}

/* The bits of a hash that are in a mask, past so many hashes that differ from each other. */
uint64_t __quagmire_degraded(uint64_t hash, uint64_t mask, uint64_t past) {
  return hash && past && is_kept(hash, past) ? hash : hash & mask;
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
