// Ends the process before the first run.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return data[0] == size; }
