// Shows what the target has made of its input, so that mutants are told from the original by it (`quagmire mutants`). Other compilers
// than quagmire-cc have no such header: there it does nothing.
#pragma once

#include <stddef.h>

#if __has_include(<quagmire/observe.h>)
#include <quagmire/observe.h>
#else
static inline void qgm_observe(const void *data, size_t size) {
  (void)data, (void)size;
}
#endif
