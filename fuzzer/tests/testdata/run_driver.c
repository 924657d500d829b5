// A program with a main of its own that hands its function to the engine.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
void __libfuzzer_is_present(void) __attribute__((weak));

volatile unsigned sink;
static char seen[200];

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  for (int i = 1; i < *argc; i++) {
    strncat(seen, (*argv)[i], sizeof seen - strlen(seen) - 2);
    strcat(seen, " ");
  }
  return 0;
}

static int take(const uint8_t *data, size_t size) {
  // reached only with the real arguments
  if (!strstr(seen, "--execs"))
    __builtin_trap();
  for (size_t i = 0; i < size; i++)
    if (data[i] == 'a')
      sink++;
  return 0;
}

int main(int argc, char **argv) {
  if (!__libfuzzer_is_present)
    return 99;
  return LLVMFuzzerRunDriver(&argc, &argv, take);
}
