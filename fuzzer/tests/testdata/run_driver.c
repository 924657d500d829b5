// A program with a main of its own that hands its function to the engine. Like a runner of tests, it takes words before `--`
// itself, prints before and after, and ignores bytes that are no input to it.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
void __libfuzzer_is_present(void) __attribute__((weak));

volatile unsigned sink;
static int has_arguments;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  // those of the engine
  has_arguments = *argc > 1 && strcmp((*argv)[1], "--test") != 0;
  return 0;
}

static int take(const uint8_t *data, size_t size) {
  if (!has_arguments)
    __builtin_trap();
  for (size_t i = 0; i < size; i++)
    for (size_t j = 0; data[i] == 'a' && j < size; j++)
      sink++;
  return 0;
}

int main(int argc, char **argv) {
  if (!__libfuzzer_is_present)
    return 99;
  if (argc > 2 && strcmp(argv[1], "--test") == 0) {
    argv[2] = argv[0];
    argv += 2;
    argc -= 2;
    puts("{ one test }");
  }
  int code = LLVMFuzzerRunDriver(&argc, &argv, take);
  puts("[ OK ]");
  return code;
}
