// What the programs that count the chain steps of word frequency share. Included before a harness's source, whose
// comparisons (one a step) it counts; the harness itself stays as it is.
#pragma once

#include <string.h>

#include "count_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t steps;

static int counted_strcmp(const char *one, const char *other) {
  ++steps;
  return strcmp(one, other);
}
#define strcmp counted_strcmp

static size_t chain_steps(uint8_t *bytes, size_t size) {
  steps = 0;
  LLVMFuzzerTestOneInput(bytes, size);
  return steps;
}
