// Quicksort of bytes with the first one as the pivot, for the harness and for count.c.
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline void swap_bytes(uint8_t *a, uint8_t *b) {
  uint8_t kept = *a;
  *a = *b;
  *b = kept;
}

// Sorts `bytes` ascending and returns the number of comparisons of bytes.
static size_t quicksort(uint8_t *bytes, size_t size) {
  if (size < 2) return 0;
  size_t last_smaller = 0;
  for (size_t i = 1; i < size; ++i) {
    if (bytes[i] < bytes[0]) swap_bytes(&bytes[++last_smaller], &bytes[i]);
  }
  swap_bytes(&bytes[0], &bytes[last_smaller]);
  size_t comparisons = size - 1;
  comparisons += quicksort(bytes, last_smaller);
  comparisons += quicksort(bytes + last_smaller + 1, size - last_smaller - 1);
  return comparisons;
}
