// The other file of uninstrumented_main.c: takes time in proportion to the size if the bytes ascend, and to its square if they
// descend.
#include <stddef.h>
#include <stdint.h>

enum { MOST = 4096 };

size_t moves_of_insertion_sort(const uint8_t *data, size_t size) {
  static volatile uint8_t sorted[MOST];
  size_t moves = 0;
  for (size_t i = 0; i < size && i < MOST; i++) {
    size_t at = i;
    for (; at > 0 && sorted[at - 1] > data[i]; at--, moves++)
      sorted[at] = sorted[at - 1];
    sorted[at] = data[i];
  }
  return moves;
}
