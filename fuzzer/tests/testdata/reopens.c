// Opens reopened.c's library (its path is in QUAGMIRE_TEST_LIBRARY), calls its loop once for each byte that is left, and
// closes it: as often as the first byte says. An `m` at the start opens a copy beside it (the same path with ".copy") at the
// same time.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *opened(const char *suffix) {
  char path[4096];
  const char *library = getenv("QUAGMIRE_TEST_LIBRARY");
  if (!library || strlen(library) + strlen(suffix) >= sizeof path) abort();
  strcpy(path, library);
  strcat(path, suffix);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) abort();
  return handle;
}

static void call(void *library, uint32_t times) {
  void (*loop)(uint32_t) = (void (*)(uint32_t))dlsym(library, "reopened_loop");
  if (!loop) abort();
  loop(times);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  if (data[0] == 'm') {
    void *one = opened(""), *other = opened(".copy");
    call(one, (uint32_t)size - 1);
    call(other, (uint32_t)size - 1);
    dlclose(one);
    dlclose(other);
    return 0;
  }
  for (int times = data[0] - '0'; times > 0; times--) {
    void *library = opened("");
    uint32_t long_loop = data[1] == 'L' ? 200000000u : 0;
    call(library, (uint32_t)size - 1 + long_loop);
    if (data[1] == '!') abort();
    dlclose(library);
  }
  return 0;
}
