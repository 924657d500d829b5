/* Part of the fork server: the active functions (see run.h). */
#include "machine.h"

#include "run.h"
#include "objects.h"

int main(int argc, char **argv) __attribute__((weak));

/* The caller, and main. Functions between the two are not recorded, since unwinding would take a library that every child
   has to map; their blocks after the start of the run are not counted. */
static uint32_t *active[2];
static int active_count;

struct two_addresses {
  uintptr_t one, other;
};

static int hold_both(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  const struct two_addresses *addresses = data;
  return __quagmire_object_holds(object, addresses->one) && __quagmire_object_holds(object, addresses->other);
}

/* The function that contains an address: the nearest start at or below it in the same object. */
static const struct qgm_function *function_at(uintptr_t address) {
  const struct qgm_function *found = NULL;
  uintptr_t nearest = 0;
  for (uint64_t i = 0; i < __quagmire_modules.count; i++) {
    const struct qgm_module *module = &__quagmire_modules.module[i];
    for (const struct qgm_function *f = module->functions_start; f != module->functions_stop; f++) {
      uintptr_t start = (uintptr_t)f->address;
      if (f->entry && start <= address && start > nearest) {
        nearest = start;
        found = f;
      }
    }
  }
  struct two_addresses both = {nearest, address};
  return found && dl_iterate_phdr(hold_both, &both) ? found : NULL;
}

static void note(const struct qgm_function *function) {
  for (int i = 0; i < active_count; i++)
    if (active[i] == function->entry)
      return;
  active[active_count++] = function->entry;
}

void __quagmire_note_active(void *caller) {
  active_count = 0;
  const struct qgm_function *function = function_at((uintptr_t)caller - 1);
  if (function)
    note(function);
  /* a constructor may come before it */
  function = main ? function_at((uintptr_t)main) : NULL;
  if (function && *function->entry)
    note(function);
}

void __quagmire_enter_active(void) {
  for (int i = 0; i < active_count; i++)
    ++*active[i];
}
