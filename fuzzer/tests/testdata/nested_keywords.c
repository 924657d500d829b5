// Three keywords of eight bytes, one behind the other: byte by byte nothing tells that they are near.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static volatile int found;

__attribute__((noinline)) static void look(const char *text) {
  if (strncmp(text, "<!ENTITY", 8) == 0) {
    found = 1;
    if (strncmp(text + 8, "\"SYSTEM\"", 8) == 0) {
      found = 2;
      if (strncmp(text + 16, "[NDATA]>", 8) == 0)
        found = 3;
    }
  }
}

#ifdef PROGRAM
int main(void) {
  char text[64] = {0};
  size_t size = fread(text, 1, sizeof text - 1, stdin);
  text[size] = 0;
  look(text);
  return 0;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char text[64] = {0};
  memcpy(text, data, size < sizeof text ? size : sizeof text - 1);
  look(text);
  return 0;
}
#endif
