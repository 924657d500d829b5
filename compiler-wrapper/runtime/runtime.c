/* Linked into every executable that quagmire-cc links: keeps the list of instrumented objects. */
#include "quagmire.h"

struct qgm_modules __quagmire_modules;
static struct qgm_heap heap;
struct qgm_heap *__quagmire_heap = &heap;
__attribute__((weak)) __thread uintptr_t __quagmire_lowest_stack __attribute__((tls_model("initial-exec")));

/* Called by the constructor of each instrumented object, also of those opened at run time. */
void __quagmire_register(const struct qgm_function *functions_start, const struct qgm_function *functions_stop,
                         uint32_t *entries_start, uint32_t *entries_stop);
void __quagmire_unregister(const struct qgm_function *functions_start, const struct qgm_function *functions_stop,
                           uint32_t *entries_start, uint32_t *entries_stop);

/* The fork server's. */
void __quagmire_registered(const struct qgm_module *module) __attribute__((weak, visibility("hidden")));

void __quagmire_register(const struct qgm_function *functions_start, const struct qgm_function *functions_stop,
                         uint32_t *entries_start, uint32_t *entries_stop) {
  struct qgm_modules *all = &__quagmire_modules;
  for (uint64_t i = 0; i < all->count; i++)
    if (all->module[i].functions_start == functions_start)
      return;
  if (functions_start == functions_stop || all->count == QGM_MAX_MODULES)
    return;
  struct qgm_module *m = &all->module[all->count];
  m->functions_start = functions_start;
  m->functions_stop = functions_stop;
  m->entries_start = entries_start;
  m->entries_stop = entries_stop;
  all->count++;
  all->generation++;
  if (__quagmire_registered)
    __quagmire_registered(m);
}

void __quagmire_unregister(const struct qgm_function *functions_start, const struct qgm_function *functions_stop,
                           uint32_t *entries_start, uint32_t *entries_stop) {
  (void)functions_stop, (void)entries_start, (void)entries_stop;
  struct qgm_modules *all = &__quagmire_modules;
  for (uint64_t i = 0; i < all->count; i++)
    if (all->module[i].functions_start == functions_start) {
      all->module[i] = (struct qgm_module){0};
      all->generation++;
    }
}
