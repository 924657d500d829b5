/* Shows quagmire what a target has made of an input, so that mutants are told from the original by it (`quagmire mutants`).
   Costs a test elsewhere, and needs no library. */
#ifndef QUAGMIRE_OBSERVE_H
#define QUAGMIRE_OBSERVE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) void __quagmire_observe(const void *data, size_t size);

/* Shows `size` bytes: a result, a tree as text. The order of calls counts. Addresses and times differ in each run: leave
   them out. */
static inline __attribute__((unused)) void qgm_observe(const void *data, size_t size) {
  if (__quagmire_observe)
    __quagmire_observe(data, size);
}

#ifdef __cplusplus
}
#endif

#endif
