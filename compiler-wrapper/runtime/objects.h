/* Linked objects of this process: lookup by address, and identity. After machine.h. */
#ifndef QUAGMIRE_OBJECTS_H
#define QUAGMIRE_OBJECTS_H

#include "quagmire.h"

#include <link.h>

/* Whether an object is mapped at an address. */
QGM_HIDDEN int __quagmire_object_holds(const struct dl_phdr_info *object, uintptr_t address);
/* Adds bytes to a hash (FNV-1a). */
QGM_HIDDEN uint64_t __quagmire_hash_bytes(uint64_t hash, const void *bytes, size_t length);
/* Adds the identity of an object to a hash: its build id, or its path if it has none. */
QGM_HIDDEN uint64_t __quagmire_hash_object(const struct dl_phdr_info *object, uint64_t hash);

#endif
