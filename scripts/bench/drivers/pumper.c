// The simplest search for growth, to compare with: repeats every string of up to three characters, and prints those whose edges become
// more and worse than linearly so, one for each edge that does so most. For harnesses that are compiled with clang's
// trace-pc-guard and pc-table. Argument: seconds. A line of the output: seconds, exponent, address of the edge, the string as
// hexadecimal digits.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_EDGES = 1 << 20, LONGEST = 3, SIZES = 3, SMALLEST = 128 };

static const double LEAST_EXPONENT = 1.3;

static uint32_t edges, with_places;
static uint64_t counts[MOST_EDGES], kept[SIZES][MOST_EDGES];
static uintptr_t places[MOST_EDGES];
static uint8_t printed[MOST_EDGES];
static double started;

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
  if (start == stop || *start) return;
  for (uint32_t *guard = start; guard < stop; ++guard) *guard = edges++;
  if (edges >= MOST_EDGES) abort();
}

// called after the edges of the same object were numbered; an entry is an address and flags
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop) {
  for (; start < stop && with_places < edges; start += 2) places[with_places++] = start[0];
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) { counts[*guard]++; }

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - started;
}

// runs a repeated string, and returns the sum of the edges
static uint64_t run(const char *text, size_t length, size_t size, uint64_t *into) {
  static uint8_t input[SMALLEST << SIZES];
  size -= size % length;
  for (size_t at = 0; at < size; at++) input[at] = (uint8_t)text[at % length];
  memset(counts, 0, edges * sizeof *counts);
  LLVMFuzzerTestOneInput(input, size);
  memcpy(into, counts, edges * sizeof *counts);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < edges; i++) sum += counts[i];
  return sum;
}

static void try(const char *text, size_t length) {
  uint64_t sums[SIZES];
  for (int i = 0; i < SIZES; i++) sums[i] = run(text, length, (size_t)SMALLEST << i, kept[i]);
  if (sums[1] <= sums[0] || sums[2] <= sums[1]) return;
  double exponent = log2((double)(sums[2] - sums[1]) / (double)(sums[1] - sums[0]));
  if (exponent < LEAST_EXPONENT) return;
  uint32_t most = 0;
  int64_t most_beyond = 0;
  for (uint32_t i = 0; i < edges; i++) {
    int64_t beyond = (int64_t)(kept[2][i] - kept[1][i]) - 2 * (int64_t)(kept[1][i] - kept[0][i]);
    if (beyond > most_beyond) most_beyond = beyond, most = i;
  }
  if (printed[most]++) return;
  printf("%.1f %.2f %#lx ", seconds(), exponent, (unsigned long)places[most]);
  for (size_t i = 0; i < length; i++) printf("%02x", (unsigned char)text[i]);
  putchar('\n');
  fflush(stdout);
}

int main(int argc, char **argv) {
  char alphabet[128], text[LONGEST];
  size_t letters = 0;
  for (int c = ' '; c < 127; c++) alphabet[letters++] = (char)c;
  alphabet[letters++] = '\n';
  alphabet[letters++] = '\t';
  double limit = argc > 1 ? atof(argv[1]) : 60;
  started = seconds();
  for (size_t length = 1, all = letters; length <= LONGEST; length++, all *= letters)
    for (size_t number = 0; number < all; number++) {
      size_t rest = number;
      for (size_t i = 0; i < length; i++, rest /= letters) text[i] = alphabet[rest % letters];
      try(text, length);
      if (seconds() > limit) return 0;
    }
  return 0;
}
