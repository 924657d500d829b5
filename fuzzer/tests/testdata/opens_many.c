// Opens and closes all libraries in the folder QUAGMIRE_TEST_LIBRARIES, `0.so` and so on, as many as there are.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)data, (void)size;
  char path[4096];
  for (int i = 0;; i++) {
    snprintf(path, sizeof path, "%s/%d.so", getenv("QUAGMIRE_TEST_LIBRARIES"), i);
    void *library = dlopen(path, RTLD_NOW);
    if (!library) return 0;
    void (*loop)(uint32_t) = (void (*)(uint32_t))dlsym(library, "reopened_loop");
    if (loop) loop(3);
    dlclose(library);
  }
}
