/* The counts of all registered objects for the fork server: in shared memory, numbered and cleared. */
#ifndef QUAGMIRE_COUNTS_H
#define QUAGMIRE_COUNTS_H

#include "quagmire.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* From Linux 5.14; older headers lack it. */
#define QGM_POPULATE_WRITE 23

/* Puts shared memory below `length` bytes at `start`: of the file, where they lie at region->offset, or without a name if
   there is none (-1). What was counted stays. */
static enum qgm_ready share(int file, struct qgm_region region) {
  if (region.address % QGM_PAGE != 0)
    return QGM_NOT_SHARED;
  if (file >= 0 && ftruncate(file, (off_t)(region.offset + region.length)) != 0)
    return QGM_NO_MEMORY;
  void *start = (void *)region.address;
  int flags = MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0);
  void *shared = mmap(NULL, region.length, PROT_READ | PROT_WRITE, flags, file, (off_t)region.offset);
  if (shared == MAP_FAILED)
    return QGM_NO_MEMORY;
  memcpy(shared, start, region.length);
  if (mremap(shared, region.length, region.length, MREMAP_MAYMOVE | MREMAP_FIXED, start) == MAP_FAILED)
    return QGM_NO_MEMORY;
  return QGM_READY;
}

/* The pages with the counts of an object: those of its entries, and those of its other edges, which the linker script puts
   right behind; nothing else is on these pages. Returns how many regions that makes. */
static int regions_of(const struct qgm_module *module, struct qgm_region region[2]) {
  uintptr_t low = UINTPTR_MAX, high = 0;
  for (const struct qgm_function *f = module->functions_start; f != module->functions_stop; f++)
    if (f->counts && f->edges > 1) {
      uintptr_t from = (uintptr_t)f->counts, to = (uintptr_t)(f->counts + f->edges - 1);
      low = from < low ? from : low;
      high = to > high ? to : high;
    }
  uintptr_t entries = (uintptr_t)module->entries_start, behind = (uintptr_t)module->entries_stop;
  int count = 0;
  if (entries != behind)
    region[count++] = (struct qgm_region){.address = entries, .length = behind - entries};
  if (count == 1 && high != 0 && low >= behind && low - behind < QGM_PAGE)
    region[0].length = high - entries;
  else if (high != 0)
    region[count++] = (struct qgm_region){.address = low / QGM_PAGE * QGM_PAGE, .length = high - low / QGM_PAGE * QGM_PAGE};
  for (int i = 0; i < count; i++)
    region[i].length = (region[i].length + QGM_PAGE - 1) / QGM_PAGE * QGM_PAGE;
  return count;
}

/* The function that an entry count belongs to, and the number of its first edge. */
struct qgm_owner {
  const struct qgm_function *function;
  uint64_t edge;
};

/* One item for each entry count, object by object; null if there is no memory. Objects that register later have none. */
static struct qgm_owner *owners;
static uint64_t owned_modules, owned_entries[QGM_MAX_MODULES];
static uint64_t all_edges;

static uint64_t entries_of(const struct qgm_module *module) {
  return (uint64_t)(module->entries_stop - module->entries_start);
}

/* To be called when all objects have registered. Edges are numbered object by object and function by function, in the order
   of the tables: the same in every process of the same program. */
static void find_owners(void) {
  uint64_t entries = 0;
  owned_modules = __quagmire_modules.count;
  for (uint64_t i = 0; i < owned_modules; i++) {
    owned_entries[i] = entries_of(&__quagmire_modules.module[i]);
    entries += owned_entries[i];
  }
  /* not from the heap, which belongs to the target */
  size_t length = (entries + 1) * sizeof *owners;
  owners = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (owners == MAP_FAILED)
    owners = NULL;
  struct qgm_owner *own = owners;
  all_edges = 0;
  for (uint64_t i = 0; i < __quagmire_modules.count; i++) {
    const struct qgm_module *module = &__quagmire_modules.module[i];
    for (const struct qgm_function *f = module->functions_start; f != module->functions_stop; f++) {
      /* linkers pad sections with empty records */
      if (!f->entry)
        continue;
      if (own)
        own[f->entry - module->entries_start] = (struct qgm_owner){f, all_edges};
      all_edges += f->edges;
    }
    own = own ? own + entries_of(module) : NULL;
  }
}

/* Calls `each` for every function that ran since its counts were cleared. `edge` is the number of the function's first edge.
   What it costs follows what ran, but for one look at every entry count. */
static void for_all_that_ran(void (*each)(const struct qgm_function *function, uint64_t edge)) {
  const struct qgm_owner *own = owners;
  for (uint64_t i = 0; own && i < owned_modules; i++) {
    const struct qgm_module *module = &__quagmire_modules.module[i];
    uint64_t entries = owned_entries[i];
    /* null once it was unloaded */
    for (uint64_t at = 0; module->entries_start && at < entries; at++)
      if (module->entries_start[at] && own[at].function)
        each(own[at].function, own[at].edge);
    own += entries;
  }
}

static void clear_function(const struct qgm_function *function, uint64_t edge) {
  (void)edge;
  *function->entry = 0;
  if (function->edges > 1)
    memset(function->counts, 0, (function->edges - 1) * sizeof *function->counts);
}

#endif
