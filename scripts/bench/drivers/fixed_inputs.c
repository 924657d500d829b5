// Stands between a fuzzer and a harness that was compiled with -DLLVMFuzzerTestOneInput=measured_target. Counts runs and
// bytes in the file that BENCH_RUNS names. If BENCH_INPUTS names a file with inputs, the harness gets these, one after the
// other, whatever the fuzzer had in mind: so all fuzzers run the very same. Its format: a 32-bit size and so many bytes,
// again and again.
#undef LLVMFuzzerTestOneInput
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct counters {
  uint64_t runs, bytes, place; // place: of the next input in the file
};

int measured_target(const uint8_t *data, size_t size);

// shared by all processes of a campaign
static struct counters *counters;
static const uint8_t *inputs;
static uint64_t inputs_size;

static void *mapped(const char *variable, int writable, uint64_t *size) {
  const char *path = getenv(variable);
  if (!path) return NULL;
  struct stat file;
  int descriptor = open(path, writable ? O_RDWR : O_RDONLY);
  int access = PROT_READ | (writable ? PROT_WRITE : 0);
  void *memory = MAP_FAILED;
  if (descriptor >= 0 && fstat(descriptor, &file) == 0)
    memory = mmap(NULL, (size_t)file.st_size, access, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    perror(variable);
    _exit(1);
  }
  close(descriptor);
  *size = (uint64_t)file.st_size;
  return memory;
}

__attribute__((constructor)) static void open_files(void) {
  uint64_t size;
  counters = mapped("BENCH_RUNS", 1, &size);
  inputs = mapped("BENCH_INPUTS", 0, &inputs_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!counters) return measured_target(data, size);
  if (inputs) {
    uint32_t fixed_size;
    if (counters->place >= inputs_size) counters->place = 0;
    memcpy(&fixed_size, inputs + counters->place, sizeof fixed_size);
    data = inputs + counters->place + sizeof fixed_size;
    size = fixed_size;
    counters->place += sizeof fixed_size + size;
  }
  counters->runs++;
  counters->bytes += size;
  return measured_target(data, size);
}
