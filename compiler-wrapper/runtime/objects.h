/* Linked objects of this process: lookup by address, and identity. */
#ifndef QUAGMIRE_OBJECTS_H
#define QUAGMIRE_OBJECTS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

static inline int object_holds(const struct dl_phdr_info *object, uintptr_t address) {
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    uintptr_t start = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && address >= start && address - start < part->p_memsz)
      return 1;
  }
  return 0;
}

/* FNV-1a hash. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return hash;
}

/* Adds the build id in a segment of notes to a hash. Returns whether there is one. */
static inline int hash_build_id(const char *notes, size_t length, uint64_t *hash) {
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= length;) {
    const ElfW(Nhdr) *note = (const void *)(notes + at);
    size_t name = at + sizeof *note, id = name + (((size_t)note->n_namesz + 3) & ~(size_t)3);
    if (id > length || note->n_descsz > length - id)
      return 0;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4) {
      *hash = hash_bytes(*hash, notes + id, note->n_descsz);
      return 1;
    }
    at = id + (((size_t)note->n_descsz + 3) & ~(size_t)3);
  }
  return 0;
}

/* Adds the identity of an object to a hash: its build id, or its path if it has none. */
static inline uint64_t hash_object(const struct dl_phdr_info *object, uint64_t hash) {
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
  return hash_bytes(hash, name, length);
}

#endif
