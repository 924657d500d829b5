/* A harness whose runs take a while, so that a score can be stopped in the middle. */
#include <quagmire/observe.h>
#include <stdint.h>
#include <unistd.h>

static int hash(const uint8_t *data, size_t size) {
  int value = 17;
  for (size_t i = 0; i < size; i++)
    value = (value * 31 + data[i]) & 0xffff;
  return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int value = hash(data, size);
  usleep(20000);
  qgm_observe(&value, sizeof value);
  return 0;
}
