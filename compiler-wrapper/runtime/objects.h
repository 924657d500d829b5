/* Linked objects of this process: lookup by address, and identity. After machine.h. */
#pragma once

#include "quagmire.h"

#include <link.h>

/* Whether an object is mapped at an address. */
QGM_HIDDEN int __quagmire_object_holds(const struct dl_phdr_info *object, uintptr_t address);
/* Calls `see` with the object that is mapped at an address, if there is one. */
QGM_HIDDEN void __quagmire_with_object(uintptr_t address, void (*see)(const struct dl_phdr_info *object, void *data), void *data);
/* Where an object begins and ends in memory. */
QGM_HIDDEN void __quagmire_bounds_of(const struct dl_phdr_info *object, uintptr_t *start, uintptr_t *end);
/* Adds bytes to a hash (FNV-1a), which begins with QGM_NO_HASH. */
#define QGM_NO_HASH 0xcbf29ce484222325u
QGM_HIDDEN uint64_t __quagmire_hash_bytes(uint64_t hash, const void *bytes, size_t length);
/* Adds the identity of an object to a hash: its build id, or its path if it has none. */
QGM_HIDDEN uint64_t __quagmire_hash_object(const struct dl_phdr_info *object, uint64_t hash);
