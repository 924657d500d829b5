// Sorting and searching. See README.md.
#include "laws.h"

PROGRAM(insertion_sort) {
  size_t count;
  uint32_t *keys = keys_of(data, size, &count);
  if (!keys) return;
  for (size_t i = 1; i < count; ++i) {
    uint32_t key = keys[i];
    size_t at = i;
    for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
    keys[at] = key;
  }
  kept = keys[count / 2];
  free(keys);
}

static void merge_range(uint32_t *keys, uint32_t *room, size_t count) {
  if (count < 2) return;
  size_t middle = count / 2;
  merge_range(keys, room, middle);
  merge_range(keys + middle, room, count - middle);
  size_t left = 0, right = middle;
  for (size_t i = 0; i < count; ++i) {
    int takes_left = right == count || (left < middle && keys[left] <= keys[right]);
    room[i] = takes_left ? keys[left++] : keys[right++];
  }
  for (size_t i = 0; i < count; ++i) keys[i] = room[i];
}

PROGRAM(merge_sort) {
  size_t count;
  uint32_t *keys = keys_of(data, size, &count);
  uint32_t *room = malloc((count + 1) * sizeof *room);
  if (keys && room) merge_range(keys, room, count);
  kept = keys ? keys[count / 2] : 0;
  free(keys);
  free(room);
}

static void sift_down(uint32_t *heap, size_t at, size_t count) {
  uint32_t key = heap[at];
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && heap[child + 1] > heap[child]) ++child;
    if (heap[child] <= key) break;
    heap[at] = heap[child];
  }
  heap[at] = key;
}

PROGRAM(heap_sort) {
  size_t count;
  uint32_t *keys = keys_of(data, size, &count);
  if (!keys) return;
  for (size_t i = count / 2; i-- > 0;) sift_down(keys, i, count);
  for (size_t end = count; end-- > 1;) {
    uint32_t largest = keys[0];
    keys[0] = keys[end];
    keys[end] = largest;
    sift_down(keys, 0, end);
  }
  kept = keys[count / 2];
  free(keys);
}

// The first key divides the others. The smaller side by recursion, the larger one by the loop: the stack stays small.
static void quick_range(uint32_t *keys, size_t count, int takes_middle) {
  while (count > 1) {
    size_t from = takes_middle ? count / 2 : 0;
    uint32_t pivot = keys[from];
    keys[from] = keys[0];
    keys[0] = pivot;
    size_t smaller = 0;
    for (size_t i = 1; i < count; ++i) {
      if (keys[i] >= pivot) continue;
      uint32_t key = keys[i];
      keys[i] = keys[++smaller];
      keys[smaller] = key;
    }
    keys[0] = keys[smaller];
    keys[smaller] = pivot;
    size_t above = count - smaller - 1;
    if (smaller < above) {
      quick_range(keys, smaller, takes_middle);
      keys += smaller + 1, count = above;
    } else {
      quick_range(keys + smaller + 1, above, takes_middle);
      count = smaller;
    }
  }
}

static void quick_sort(const uint8_t *data, size_t size, int takes_middle) {
  size_t count;
  uint32_t *keys = keys_of(data, size, &count);
  if (!keys) return;
  quick_range(keys, count, takes_middle);
  kept = keys[count / 2];
  free(keys);
}

PROGRAM(quick_sort_first) { quick_sort(data, size, 0); }

PROGRAM(quick_sort_middle) { quick_sort(data, size, 1); }

// Looks for each key among all, which are in order.
PROGRAM(binary_search) {
  uint64_t found = 0;
  for (size_t i = 0; i < size / KEY; ++i) {
    uint32_t key = key_at(data, i);
    size_t low = 0, high = size / KEY;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (key_at(data, middle) < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    found += low;
  }
  kept = found;
}
