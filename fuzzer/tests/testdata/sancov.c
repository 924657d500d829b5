/* A harness whose objects other compilers count: byte by byte, what it does is known.
     a   work() goes round its loop 3 times
     q   work() goes round as often as there are bytes
     w   work() is called 256 times, and goes round 511 times in all
     c   a null pointer is followed
     o   the library beside the program is opened, called, and closed again
   work() begins at line 14, its loop is at lines 15 and 16. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

static volatile unsigned sink;

__attribute__((noinline)) void work(unsigned rounds) {
  for (unsigned i = 0; i < rounds; i++)
    sink += i;
}

static void call_library(void) {
  void *library = dlopen(getenv("SANCOV_LIBRARY"), RTLD_NOW);
  void (*in_library)(unsigned) = library ? (void (*)(unsigned))dlsym(library, "in_library") : 0;
  if (in_library)
    in_library(5);
  if (library)
    dlclose(library);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (size_t at = 0; at < size; at++) {
    switch (data[at]) {
    case 'a':
      work(3);
      break;
    case 'q':
      work((unsigned)size);
      break;
    case 'w':
      for (int i = 0; i < 256; i++)
        work((unsigned)i % 3 + 1);
      break;
    case 'c':
      *(volatile int *)0 = 1;
      break;
    case 'o':
      call_library();
      break;
    }
  }
  return 0;
}
