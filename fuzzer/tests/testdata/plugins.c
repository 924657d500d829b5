// A program that opens plugin-X.so in its folder, X being the first byte of its input, and calls what is in it (plugin.c). With
// 't' it opens a copy of plugin-a.so that is gone at once. With -DLOOP it makes many runs in one process.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int has_started;

static void *open_copy(void) {
  char name[32], block[65536];
  snprintf(name, sizeof name, "./copy-%d", (int)getpid());
  FILE *from = fopen("plugin-a.so", "rb"), *to = fopen(name, "wb");
  if (!from || !to) abort();
  for (size_t size; (size = fread(block, 1, sizeof block, from)) > 0;)
    if (fwrite(block, 1, size, to) != size) abort();
  fclose(from);
  fclose(to);
  void *library = dlopen(name, RTLD_NOW);
  unlink(name);
  return library;
}

static void look(const unsigned char *bytes, int size) {
  char name[] = "./plugin-X.so";
  if (size <= 0) return;
  name[9] = (char)bytes[0];
  void *library = bytes[0] == 't' ? open_copy() : bytes[0] == '/' ? NULL : dlopen(name, RTLD_NOW);
  if (!library) return;
  ((void (*)(const unsigned char *, int))dlsym(library, "work"))(bytes, size);
  if (size > 1 && bytes[1] == 'c') dlclose(library);
}

int main(void) {
  static unsigned char bytes[4096];
  has_started = 1;
#ifdef LOOP
  while (__AFL_LOOP(100)) look(bytes, (int)read(0, bytes, sizeof bytes));
#else
  look(bytes, (int)read(0, bytes, sizeof bytes));
#endif
  return 0;
}
