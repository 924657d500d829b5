// Allocation within a budget, for interpreters that let a short program ask for gigabytes.
#pragma once

#include <stddef.h>
#include <stdlib.h>

enum { MEMORY_BUDGET = 16 << 20, MEMORY_HEADER = 16 };

// Bytes in use, headers included. 0 between runs, as all is freed.
static size_t memory_in_use;

static void budgeted_free(void *block) {
  if (!block) return;
  char *start = (char *)block - MEMORY_HEADER;
  memory_in_use -= *(size_t *)start;
  free(start);
}

// As realloc: NULL beyond the budget, and `block` is as it was.
static void *budgeted_realloc(void *block, size_t size) {
  char *start = block ? (char *)block - MEMORY_HEADER : NULL;
  size_t before = start ? *(size_t *)start : 0;
  if (size > MEMORY_BUDGET || memory_in_use - before + size + MEMORY_HEADER > MEMORY_BUDGET) return NULL;
  start = (char *)realloc(start, size + MEMORY_HEADER);
  if (!start) return NULL;
  *(size_t *)start = size + MEMORY_HEADER;
  memory_in_use += size + MEMORY_HEADER - before;
  return start + MEMORY_HEADER;
}
