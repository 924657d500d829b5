/* Linked into every executable: lookup of linked objects by address, and their identity. */
#include "machine.h"

#include "objects.h"

#include <elf.h>

int __quagmire_object_holds(const struct dl_phdr_info *object, uintptr_t address) {
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    uintptr_t start = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && address >= start && address - start < part->p_memsz)
      return 1;
  }
  return 0;
}

struct seen {
  uintptr_t address;
  void (*see)(const struct dl_phdr_info *, void *);
  void *data;
};

static int see_if_holds(struct dl_phdr_info *object, size_t size, void *data) {
  const struct seen *seen = data;
  (void)size;
  if (!__quagmire_object_holds(object, seen->address))
    return 0;
  seen->see(object, seen->data);
  return 1;
}

void __quagmire_with_object(uintptr_t address, void (*see)(const struct dl_phdr_info *, void *), void *data) {
  struct seen seen = {address, see, data};
  dl_iterate_phdr(see_if_holds, &seen);
}

void __quagmire_bounds_of(const struct dl_phdr_info *object, uintptr_t *start, uintptr_t *end) {
  *start = UINTPTR_MAX;
  *end = 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    uintptr_t from = object->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
    if (part->p_type != PT_LOAD)
      continue;
    *start = from < *start ? from : *start;
    *end = to > *end ? to : *end;
  }
}

uint64_t __quagmire_hash_bytes(uint64_t hash, const void *bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return hash;
}

/* Adds the build id in a segment of notes to a hash. Returns whether there is one. */
static int hash_build_id(const char *notes, size_t length, uint64_t *hash) {
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= length;) {
    const ElfW(Nhdr) *note = (const void *)(notes + at);
    size_t name = at + sizeof *note, id = name + (((size_t)note->n_namesz + 3) & ~(size_t)3);
    if (id > length || note->n_descsz > length - id)
      return 0;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4) {
      *hash = __quagmire_hash_bytes(*hash, notes + id, note->n_descsz);
      return 1;
    }
    at = id + (((size_t)note->n_descsz + 3) & ~(size_t)3);
  }
  return 0;
}

uint64_t __quagmire_hash_object(const struct dl_phdr_info *object, uint64_t hash) {
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type == PT_NOTE && part->p_align <= 4 &&
        hash_build_id((const char *)(object->dlpi_addr + part->p_vaddr), part->p_memsz, &hash))
      return hash;
  }
  const char *name = object->dlpi_name ? object->dlpi_name : "";
  size_t length = 0;
  while (name[length])
    length++;
  return __quagmire_hash_bytes(hash, name, length);
}
