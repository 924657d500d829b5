// Quadratic in its input. The first process that measures it (`replay`) takes some time at random in each run, in the
// system's code, so that its times tell nothing: as if the machine was busy then. MARKER names the file that remembers this.
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static int is_noisy;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  for (int i = 1; i < *argc; i++)
    if (!strcmp((*argv)[i], "replay"))
      is_noisy = open(getenv("MARKER"), O_CREAT | O_EXCL, 0600) >= 0;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile size_t result;
  static unsigned char noise[256];
  size_t pairs = 0;
  for (size_t i = 0; i < size; i++)
    for (size_t j = 0; j < size; j++)
      pairs += data[i] == data[j];
  result = pairs;
  if (is_noisy) {
    uint16_t blocks;
    (void)!getrandom(&blocks, sizeof blocks, 0);
    for (unsigned block = 0; block < blocks % 4096u; block++)
      (void)!getrandom(noise, sizeof noise, 0);
  }
  return 0;
}
