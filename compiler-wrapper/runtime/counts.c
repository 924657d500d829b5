/* Part of the fork server: the counts of all registered objects, in shared memory, numbered and cleared. */
#include "machine.h"

#include "counts.h"

#include <string.h>

/* From Linux 5.14; older headers lack it. */
#define QGM_POPULATE_WRITE 23

struct qgm_server __quagmire_tables;
int __quagmire_counts_file = -1;

/* Puts shared memory below a region: of the file, at its offset, or without a name if there is none. What was counted
   stays. */
static enum qgm_ready share(struct qgm_region region) {
  int file = __quagmire_counts_file;
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

int __quagmire_regions_of(const struct qgm_module *module, struct qgm_region region[2]) {
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

enum qgm_ready __quagmire_share_module(uint64_t number) {
  struct qgm_server *own = &__quagmire_tables;
  const struct qgm_module *module = &__quagmire_modules.module[number];
  enum qgm_ready ready = QGM_READY;
  struct qgm_region region[2];
  int count = module->functions_start ? __quagmire_regions_of(module, region) : 0;
  for (int part = 0; ready == QGM_READY && part < count; part++) {
    region[part].offset = own->bytes;
    ready = own->region_count < sizeof own->region / sizeof *own->region ? share(region[part]) : QGM_NO_MEMORY;
    if (ready == QGM_READY)
      own->region[own->region_count++] = region[part];
    own->bytes += region[part].length;
  }
  return ready;
}

enum qgm_ready __quagmire_share_all(void) {
  enum qgm_ready ready = QGM_READY;
  for (uint64_t i = 0; ready == QGM_READY && i < __quagmire_modules.count; i++)
    ready = __quagmire_share_module(i);
  return ready;
}

void __quagmire_map_counts(void) {
  const struct qgm_server *own = &__quagmire_tables;
  for (uint64_t i = 0; i < own->region_count; i++)
    call_system(SYS_madvise, (long)own->region[i].address, (long)own->region[i].length, QGM_POPULATE_WRITE);
}

/* Counts at the start of a child with a loop, restored when it reaches the loop: code before it belongs to no run. They may
   be those of several runs, which add up. */
static char *counts_before;

/* Saves or restores the counts of all objects. */
static void copy_counts(int back) {
  const struct qgm_server *own = &__quagmire_tables;
  size_t at = 0;
  for (uint64_t i = 0; counts_before && i < own->region_count; i++) {
    void *counts = (void *)own->region[i].address, *copy = counts_before + at;
    memcpy(back ? counts : copy, back ? copy : counts, own->region[i].length);
    at += own->region[i].length;
  }
}

void __quagmire_keep_counts(void) {
  counts_before = reserve(__quagmire_tables.bytes);
  copy_counts(0);
}

void __quagmire_restore_counts(void) {
  copy_counts(1);
  if (counts_before)
    munmap(counts_before, __quagmire_tables.bytes);
}

/* The function that an entry count belongs to, and the number of its first edge. */
struct qgm_owner {
  const struct qgm_function *function;
  uint64_t edge;
};

/* One item for each entry count, object by object; null if there is no memory. Objects that register later have none. */
static struct qgm_owner *owners;
static uint64_t owned_modules, owned_entries[QGM_MAX_MODULES];
uint64_t __quagmire_all_edges;

static uint64_t entries_of(const struct qgm_module *module) {
  return (uint64_t)(module->entries_stop - module->entries_start);
}

void __quagmire_find_owners(void) {
  uint64_t entries = 0;
  owned_modules = __quagmire_modules.count;
  for (uint64_t i = 0; i < owned_modules; i++) {
    owned_entries[i] = entries_of(&__quagmire_modules.module[i]);
    entries += owned_entries[i];
  }
  owners = reserve((entries + 1) * sizeof *owners);
  struct qgm_owner *own = owners;
  __quagmire_all_edges = 0;
  for (uint64_t i = 0; i < __quagmire_modules.count; i++) {
    const struct qgm_module *module = &__quagmire_modules.module[i];
    for (const struct qgm_function *f = module->functions_start; f != module->functions_stop; f++) {
      /* linkers pad sections with empty records */
      if (!f->entry)
        continue;
      if (own)
        own[f->entry - module->entries_start] = (struct qgm_owner){f, __quagmire_all_edges};
      __quagmire_all_edges += f->edges;
    }
    own = own ? own + entries_of(module) : NULL;
  }
}

void __quagmire_for_all_that_ran(void (*each)(const struct qgm_function *function, uint64_t edge)) {
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

void __quagmire_clear_counts(void) { __quagmire_for_all_that_ran(clear_function); }
