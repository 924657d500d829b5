/* Linked into harnesses: libraries that the target closes. Their memory is unmapped before the engine reads the counts, so a
   copy takes the place of the library, with the counts that it had when it was closed. */
#include "machine.h"

#include "inprocess.h"
#include "objects.h"

/* The copies, one for each place in the list of objects, never freed. Distances within an object hold in its copy too. */
static struct closed_object {
  uintptr_t from, to; /* of the object, when it was copied */
  char *copy;
  struct qgm_module tables;
} closed_objects[QGM_MAX_MODULES];

typedef uint64_t unaligned_word __attribute__((aligned(1), may_alias));

/* Not memcpy: a sanitizer's may not look between variables. */
__attribute__((no_sanitize("address"))) static void copy_words(void *to, const void *from, size_t length) {
  size_t i = 0;
  for (; i + sizeof(unaligned_word) <= length; i += sizeof(unaligned_word))
    *(unaligned_word *)((char *)to + i) = *(const unaligned_word *)((const char *)from + i);
  for (; i < length; i++)
    ((char *)to)[i] = ((const char *)from)[i];
}

static void copy_object(const struct dl_phdr_info *object, void *data) {
  struct closed_object *closed = data;
  __quagmire_bounds_of(object, &closed->from, &closed->to);
  closed->from &= ~(uintptr_t)63;
  char *copy = reserve(closed->to - closed->from);
  if (!copy)
    return;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    uintptr_t from = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && part->p_flags & PF_R)
      copy_words(copy + (from - closed->from), (const void *)from, part->p_filesz);
  }
  closed->copy = copy;
}

/* Translates an address in the object to its copy. */
static void *in_copy(const struct closed_object *closed, const void *pointer) {
  uintptr_t address = (uintptr_t)pointer;
  return address >= closed->from && address < closed->to ? closed->copy + (address - closed->from) : NULL;
}

/* Copies the object and relocates the pointers of its records. */
static void make_copy(struct closed_object *closed, const struct qgm_module *module) {
  __quagmire_with_object((uintptr_t)module->functions_start, copy_object, closed);
  if (!closed->copy)
    return;
  closed->tables = (struct qgm_module){
      .functions_start = in_copy(closed, module->functions_start),
      .functions_stop = (const struct qgm_function *)in_copy(closed, module->functions_start) +
                        (module->functions_stop - module->functions_start),
      .entries_start = in_copy(closed, module->entries_start),
      .entries_stop = (uint32_t *)in_copy(closed, module->entries_start) + (module->entries_stop - module->entries_start),
  };
  struct qgm_function *f = in_copy(closed, module->functions_start);
  for (const struct qgm_function *from = module->functions_start; from != module->functions_stop; from++, f++) {
    f->entry = in_copy(closed, from->entry);
    f->counts = in_copy(closed, from->counts);
    f->weights = in_copy(closed, from->weights);
  }
}

struct qgm_module __quagmire_closing(uint64_t number) {
  if (!__quagmire_is_counted())
    return (struct qgm_module){0};
  struct closed_object *closed = &closed_objects[number];
  const struct qgm_module *module = &__quagmire_modules.module[number];
  if (!closed->copy)
    make_copy(closed, module);
  if (!closed->copy)
    return (struct qgm_module){0};
  const struct qgm_function *to = closed->tables.functions_start;
  for (const struct qgm_function *from = module->functions_start; from != module->functions_stop; from++, to++)
    if (from->entry && *from->entry) {
      *to->entry = *from->entry;
      if (from->counts)
        copy_words(to->counts, from->counts, (from->edges - 1) * sizeof *from->counts);
    }
  return closed->tables;
}
