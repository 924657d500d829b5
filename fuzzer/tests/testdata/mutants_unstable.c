/* A harness that shows something else in each run, if the input begins with `u`. */
#include <quagmire/observe.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static long shown(int c) {
  struct timespec now = {0};
  if (c == 'u') /* unstable */
    clock_gettime(CLOCK_MONOTONIC, &now);
  return c + 1000000000 * now.tv_sec + now.tv_nsec;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size) {
    long value = shown(data[0]);
    qgm_observe(&value, sizeof value);
  }
  return 0;
}
