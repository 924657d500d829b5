// Insertion sort of bytes, for the harness and for count.c.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Sorts `bytes` ascending and returns the number of shifts: of pairs that stood in the wrong order.
static size_t insertion_sort(uint8_t *bytes, size_t size) {
  size_t shifts = 0;
  for (size_t i = 1; i < size; ++i) {
    uint8_t moving = bytes[i];
    size_t hole = i;
    for (; hole > 0 && bytes[hole - 1] > moving; --hole) {
      bytes[hole] = bytes[hole - 1];
      ++shifts;
    }
    bytes[hole] = moving;
  }
  return shifts;
}
