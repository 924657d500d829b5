/* Linked into every executable that quagmire-cc links: maintains the list of instrumented objects. */
#include "machine.h"

#include "objects.h"

#include <sched.h>

struct qgm_modules __quagmire_modules;
static struct qgm_heap heap;
struct qgm_heap *__quagmire_heap = &heap;
int __quagmire_ignores_objects;
__attribute__((weak)) __thread uintptr_t __quagmire_lowest_stack __attribute__((tls_model("initial-exec")));
__attribute__((weak)) __thread uintptr_t __quagmire_highest_stack __attribute__((tls_model("initial-exec")));

/* Called by the constructor of each instrumented object, also of those opened at run time. */
void __quagmire_register(const struct qgm_function *functions_start, const struct qgm_function *functions_stop,
                         uint32_t *entries_start, uint32_t *entries_stop);
void __quagmire_unregister(const struct qgm_function *functions_start, const struct qgm_function *functions_stop,
                           uint32_t *entries_start, uint32_t *entries_stop);

/* The fork server and the in-process engine have their own of these. Not weak references: gold makes addresses of them. */

/* Called after an object was registered. */
__attribute__((weak)) QGM_HIDDEN void __quagmire_registered(const struct qgm_module *module) { (void)module; }

/* Copies the tables and counts of an object that is about to be unmapped. */
__attribute__((weak)) QGM_HIDDEN struct qgm_module __quagmire_closing(uint64_t number) {
  (void)number;
  return (struct qgm_module){0};
}

/* How often a change waits for a look at the counts that another thread takes: the process may be a copy without it. */
#define MOST_WAITS 10000

/* For each place in the list: whether the object there is open; its identity, 0 if it cannot be opened again. */
static unsigned char is_open[QGM_MAX_MODULES];
static uint64_t identity[QGM_MAX_MODULES];

/* The generation is odd while the list changes: the timer reads nothing then. What it reads stays mapped meanwhile. */
static void begin_change(void) {
  __atomic_or_fetch(&__quagmire_modules.generation, 1, __ATOMIC_SEQ_CST);
  for (int i = 0; i < MOST_WAITS && __atomic_load_n(&__quagmire_modules.reading, __ATOMIC_SEQ_CST); i++)
    sched_yield();
}

static void end_change(void) { __atomic_add_fetch(&__quagmire_modules.generation, 1, __ATOMIC_SEQ_CST); }

static void identify(const struct dl_phdr_info *object, void *hash) {
  *(uint64_t *)hash = __quagmire_hash_object(object, *(uint64_t *)hash);
}

/* Identity of an object wherever it is mapped: a hash of the file and the shape of its tables. Never 0. */
static uint64_t identity_of(const struct qgm_module *module) {
  uint64_t hash = QGM_NO_HASH;
  for (const struct qgm_function *f = module->functions_start; f != module->functions_stop; f++) {
    uint64_t shape[4] = {f->edges, f->progress, f->charges, f->entry ? (uint64_t)(f->entry - module->entries_start) + 1 : 0};
    hash = __quagmire_hash_bytes(hash, shape, sizeof shape);
  }
  __quagmire_with_object((uintptr_t)module->functions_start, identify, &hash);
  return hash | 1;
}

/* The place that the same object had before it was closed, or the next free one. */
static uint64_t place_for(uint64_t wanted) {
  for (uint64_t i = 0; i < __quagmire_modules.count; i++)
    if (!is_open[i] && identity[i] == wanted)
      return i;
  return __quagmire_modules.count;
}

/* Adds the counts that stayed of an object to those of the same object, which was opened again. */
static void take_over(const struct qgm_module *left, const struct qgm_module *open) {
  const struct qgm_function *to = open->functions_start;
  for (const struct qgm_function *from = left->functions_start; from != left->functions_stop; from++, to++) {
    if (!from->entry || !*from->entry)
      continue;
    *to->entry += *from->entry;
    *from->entry = 0;
    for (uint32_t i = 0; from->counts && i + 1 < from->edges; i++) {
      if (i + 1 + from->memory < from->edges)
        to->counts[i] += from->counts[i];
      else if (to->counts[i] < from->counts[i])
        to->counts[i] = from->counts[i];
      from->counts[i] = 0;
    }
  }
}

void __quagmire_register(const struct qgm_function *functions_start, const struct qgm_function *functions_stop,
                         uint32_t *entries_start, uint32_t *entries_stop) {
  struct qgm_modules *all = &__quagmire_modules;
  for (uint64_t i = 0; i < all->count; i++)
    if (is_open[i] && all->module[i].functions_start == functions_start)
      return;
  if (functions_start == functions_stop || __quagmire_ignores_objects)
    return;
  __quagmire_register_module((struct qgm_module){
      .functions_start = functions_start,
      .functions_stop = functions_stop,
      .entries_start = entries_start,
      .entries_stop = entries_stop,
  });
}

void __quagmire_register_module(struct qgm_module module) {
  struct qgm_modules *all = &__quagmire_modules;
  uint64_t what = identity_of(&module), place = place_for(what);
  begin_change();
  if (place == QGM_MAX_MODULES) {
    all->refused++;
  } else {
    if (place < all->count)
      take_over(&all->module[place], &module);
    else
      all->count++;
    all->module[place] = module;
    is_open[place] = 1;
    identity[place] = what;
  }
  end_change();
  if (place < QGM_MAX_MODULES)
    __quagmire_registered(&all->module[place]);
}

void __quagmire_unregister(const struct qgm_function *functions_start, const struct qgm_function *functions_stop,
                           uint32_t *entries_start, uint32_t *entries_stop) {
  (void)functions_stop, (void)entries_start, (void)entries_stop;
  struct qgm_modules *all = &__quagmire_modules;
  for (uint64_t i = 0; i < all->count; i++)
    if (is_open[i] && all->module[i].functions_start == functions_start) {
      struct qgm_module left = __quagmire_closing(i);
      begin_change();
      all->module[i] = left;
      is_open[i] = 0;
      end_change();
    }
}

void __quagmire_forget_closed(void) {
  for (uint64_t i = 0; i < __quagmire_modules.count; i++)
    if (!is_open[i])
      identity[i] = 0;
}
