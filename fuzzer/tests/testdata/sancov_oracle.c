/* A second opinion on the counts of guards, and a main: prints the number of executed edges, the sum of their counts, and the
   largest count, for the input in a file. */
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t counts[100000];
static uint32_t edges;

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
  for (; start != stop && !*start; start++)
    *start = ++edges;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) { counts[*guard]++; }

int main(int argc, char **argv) {
  static uint8_t input[1 << 20];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  size_t size = file ? fread(input, 1, sizeof input, file) : 0;
  for (uint32_t i = 0; i <= edges; i++)
    counts[i] = 0;
  LLVMFuzzerTestOneInput(input, size);
  uint64_t hit = 0, sum = 0, most = 0;
  for (uint32_t i = 0; i <= edges; i++) {
    hit += counts[i] > 0;
    sum += counts[i];
    most = counts[i] > most ? counts[i] : most;
  }
  printf("%lu %lu %lu\n", (unsigned long)hit, (unsigned long)sum, (unsigned long)most);
  return 0;
}
