// Counts the edges that a whole corpus reaches: reads paths from standard input, one a line, runs the harness on each file
// in a process of its own, and prints for each how many edges the files so far reach, then "EDGES OF ALL ENDED_BADLY". Built
// with clang's own edge coverage, which numbers each edge: unlike AFL's map, nothing collides, and neither of two fuzzers is
// measured by its own instrumentation.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_EDGES = 1 << 22, SECONDS = 10 };

static uint8_t *reached; // shared with the processes that run the files
static uint32_t edges;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
  if (start == stop || *start) return;
  for (uint32_t *guard = start; guard < stop; ++guard) *guard = ++edges;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
  if (reached && *guard < MOST_EDGES) reached[*guard] = 1;
}

// Gives the harness a file, in an allocation of exactly its size.
static int run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) return 1;
  long size = ftell(file);
  uint8_t *bytes = size < 0 ? NULL : malloc((size_t)size + (size == 0));
  rewind(file);
  if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) return 1;
  fclose(file);
  alarm(SECONDS);
  LLVMFuzzerTestOneInput(bytes, (size_t)size);
  return 0;
}

int main(int argc, char **argv) {
  char path[4096];
  unsigned bad = 0, found = 0;
  reached = mmap(NULL, MOST_EDGES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (reached == MAP_FAILED || edges >= MOST_EDGES) return 1;
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
  while (fgets(path, sizeof path, stdin)) {
    path[strcspn(path, "\n")] = '\0';
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) _exit(run_file(path));
    int status;
    if (waitpid(child, &status, 0) != child) return 1;
    bad += status != 0;
    found = 0;
    for (uint32_t edge = 1; edge <= edges; ++edge) found += reached[edge];
    printf("%u\n", found);
  }
  printf("%u %u %u\n", found, edges, bad);
  return 0;
}
