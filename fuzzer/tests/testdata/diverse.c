// Does something else for each kind of byte, as often as there are bytes of it, and accepts what begins with `y`: as a
// harness it says so by reaching `accept`, as a program (-DPROGRAM) by its exit status as well.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static volatile unsigned seen;

__attribute__((noinline)) static void letter(void) { seen += 1; }
__attribute__((noinline)) static void digit(void) { seen += 2; }
__attribute__((noinline)) static void accept(void) { seen += 3; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (data[i] >= 'a' && data[i] <= 'z') letter();
    else if (data[i] >= '0' && data[i] <= '9') digit();
  }
  if (size > 2 && data[1] == '!' && data[2] == '!') __builtin_trap();
  if (size > 0 && data[0] == 'y') accept();
  return 0;
}

#ifdef PROGRAM
int main(void) {
  uint8_t bytes[100];
  size_t size = fread(bytes, 1, sizeof bytes, stdin);
  LLVMFuzzerTestOneInput(bytes, size);
  return size > 0 && bytes[0] == 'y' ? 0 : 1;
}
#endif
