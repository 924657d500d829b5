// What the harnesses that sort the bytes of their input share.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Sorts a copy of the input with `sort`, which returns its cost.
static inline void sort_input(const uint8_t *data, size_t size, size_t (*sort)(uint8_t *bytes, size_t size)) {
  if (size == 0) return;
  uint8_t *bytes = malloc(size);
  if (!bytes) return;
  memcpy(bytes, data, size);
  volatile size_t cost = sort(bytes, size); // volatile: the sort must not be optimised away
  (void)cost;
  free(bytes);
}
