/* Linked into harnesses with QUAGMIRE_DRIVER=1 instead of the engine: calls the harness's function, in a loop in one
   process when a fuzzer has started it, otherwise once for each file that is named. */
#include "draws.h"
#include "serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) void *__asan_region_is_poisoned(void *begin, size_t size);

int __quagmire_takes_testcases = 1;
__attribute__((used, section("qgm_deferred"))) static const char deferred[] = "##SIG_AFL_DEFER_FORKSRV##";
__attribute__((used, section("qgm_persistent"))) static const char persistent[] = "##SIG_AFL_PERSISTENT##";

static int (*test_one_input)(const uint8_t *data, size_t size);

/* AddressSanitizer sees a read past the end only of a block of its own. */
static void run(const uint8_t *bytes, size_t size) {
  uint8_t *copy = __asan_region_is_poisoned ? malloc(size) : NULL;
  if (copy)
    memcpy(copy, bytes, size);
  __quagmire_draw_from(copy ? copy : bytes, size, bytes);
  if (test_one_input(copy ? copy : bytes, size) == -1)
    __quagmire_reject();
  free(copy);
}

static int run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  uint8_t *bytes = NULL;
  size_t size = 0;
  if (!file) {
    perror(path);
    return 1;
  }
  for (size_t room = 0, more = 1; more > 0; size += more) {
    if (size == room) {
      room = room ? 2 * room : 4096;
      uint8_t *larger = realloc(bytes, room);
      if (!larger)
        break;
      bytes = larger;
    }
    more = fread(bytes + size, 1, room - size, file);
  }
  fclose(file);
  run(bytes, size);
  free(bytes);
  return 0;
}

void __libfuzzer_is_present(void) {}

/* For the mutator of a harness, which nobody calls here: mutants come from the fuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
  if (size == 0 && max_size > 0)
    data[size++] = 0;
  return size < max_size ? size : max_size;
}

/* Runs what a fuzzer asks for, or else the files that are named. Returns the exit code of the process. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size)) {
  test_one_input = callback;
  if (LLVMFuzzerInitialize)
    LLVMFuzzerInitialize(argc, argv);
  /* null: this function has no counts */
  __quagmire_init(NULL);
  if (__quagmire_mode == QGM_ALONE && *argc > 1) {
    int failed = 0;
    for (int i = 1; i < *argc; i++)
      failed |= run_file((*argv)[i]);
    return failed;
  }
  const uint8_t *bytes = __quagmire_testcase();
  while (__quagmire_loop(NULL, 1000)) {
    int size = __quagmire_testcase_size();
    if (bytes)
      run(bytes, (size_t)size);
  }
  return 0;
}
