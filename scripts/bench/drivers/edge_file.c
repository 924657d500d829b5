// Notes each edge that a program runs through as a byte of the file that EDGES names, which all runs share. Linked into programs
// that are built with clang's own edge coverage. The file is mapped: what a run has reached is noted however it ends.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_EDGES = 1 << 22 };

static uint8_t *reached;
static uint32_t edges;

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
  if (start == stop || *start) return;
  for (uint32_t *guard = start; guard < stop; ++guard) *guard = ++edges;
  if (edges >= MOST_EDGES) abort();
  const char *name = getenv("EDGES");
  if (reached || !name) return;
  int file = open(name, O_RDWR | O_CREAT, 0644);
  if (file < 0 || ftruncate(file, MOST_EDGES) != 0) abort();
  void *mapped = mmap(NULL, MOST_EDGES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) abort();
  reached = mapped;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
  if (reached) reached[*guard] = 1;
}
