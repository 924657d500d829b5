/* Opens a library, perhaps without the runtime (PLAIN), and asks it. */
#include "slots.h"

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *library = dlopen(argv[argc - 1], RTLD_NOW);
  int (*is_keyword)(const char *) = library ? (int (*)(const char *))dlsym(library, "is_keyword") : NULL;
  if (!is_keyword)
    return printf("%s\n", dlerror()), 2;
  printf("%d", is_keyword("keyboard"));
#ifndef PLAIN
  printf(", %u of %u", slots_hit((void *)is_keyword), found((void *)is_keyword)->progress);
#endif
  printf(", %d\n", is_keyword("keyword"));
  return 0;
}
