// Calls the loop of library.c (-DLIBRARY="path"), opened in the first run: as often as the input is long, times 1000.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)data;
  static void (*library_loop)(uint32_t n);
  if (!library_loop) {
    void *library = dlopen(LIBRARY, RTLD_NOW);
    if (!library) abort();
    library_loop = (void (*)(uint32_t))dlsym(library, "library_loop");
  }
  library_loop((uint32_t)size * 1000);
  return 0;
}
