/* Linked into every executable: counts of a run whose target begins in its middle. */
#include "machine.h"

#include "window.h"

#include <string.h>

/* Functions whose counts were cleared. */
static const struct qgm_function **forgotten;
static size_t number, room;
static uint64_t generation;

static int grow(void) {
  size_t larger = room ? 2 * room : 512;
  void *moved = reserve(larger * sizeof *forgotten);
  if (!moved)
    return 0;
  if (room) {
    memcpy(moved, forgotten, number * sizeof *forgotten);
    munmap(forgotten, room * sizeof *forgotten);
  }
  forgotten = moved;
  room = larger;
  return 1;
}

/* Whether something has run in an object: entry counts stand side by side. */
static int has_run(const struct qgm_module *module) {
  for (const uint32_t *entry = module->entries_start; entry != module->entries_stop; entry++)
    if (*entry)
      return 1;
  return 0;
}

void __quagmire_forget_counts(void) {
  number = 0;
  generation = __quagmire_modules.generation;
  for (uint64_t i = 0; i < __quagmire_modules.count; i++) {
    const struct qgm_module *module = &__quagmire_modules.module[i];
    if (!has_run(module))
      continue;
    for (const struct qgm_function *f = module->functions_start; f != module->functions_stop; f++) {
      if (!f->entry || !*f->entry || (number == room && !grow()))
        continue;
      forgotten[number++] = f;
      *f->entry = 0;
      if (f->edges > 1)
        memset(f->counts, 0, (f->edges - 1) * sizeof *f->counts);
    }
  }
}

static int has_gone_on(const struct qgm_function *function) {
  for (uint32_t i = 0; i + 1 < function->edges; i++)
    if (function->counts[i])
      return 1;
  return 0;
}

void __quagmire_count_active(void) {
  /* otherwise objects may have been closed */
  if (generation == __quagmire_modules.generation)
    for (size_t i = 0; i < number; i++)
      if (*forgotten[i]->entry == 0 && has_gone_on(forgotten[i]))
        *forgotten[i]->entry = 1;
  number = 0;
}
