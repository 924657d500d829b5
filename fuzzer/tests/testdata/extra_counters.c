// Counts states of a table by itself, in the section of extra counters: its code has no branch for them.
#include <stddef.h>
#include <stdint.h>

__attribute__((used, section("__libfuzzer_extra_counters"))) static uint8_t states[256];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 3)
    states[data[1]]++;
  return 0;
}
