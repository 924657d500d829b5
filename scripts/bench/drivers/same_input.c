// A custom mutator for afl-fuzz that changes nothing: what is left is what a run of the same input costs.
#include <stddef.h>
#include <stdint.h>

void *afl_custom_init(void *afl, unsigned seed) {
  (void)seed;
  return afl;
}

size_t afl_custom_fuzz(void *data, uint8_t *bytes, size_t size, uint8_t **out, uint8_t *other, size_t other_size,
                       size_t most) {
  (void)data, (void)other, (void)other_size, (void)most;
  *out = bytes;
  return size;
}

void afl_custom_deinit(void *data) { (void)data; }
