// Counts what a performance mutant spends, in place of spending it: linked with -Wl,--wrap=__quagmire_burn. The number is in
// the file that BURNT names when the program has ended.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t burnt;

void __wrap___quagmire_burn(uint64_t instructions) { burnt += instructions; }

__attribute__((destructor)) static void tell(void) {
  const char *path = getenv("BURNT");
  FILE *file = path ? fopen(path, "w") : 0;
  if (file) {
    fprintf(file, "%" PRIu64, burnt);
    fclose(file);
  }
}
