/* Opens the library and calls into it. */
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
  if (!library) return 1;
  int (*length)(const char *) = (int (*)(const char *))dlsym(library, "length");
  printf("%d\n", length("abc"));
  return 0;
}
