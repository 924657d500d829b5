#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  /* a seed that is known, as a program chooses it that does not want the random one */
  json_object_seed(1);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  json_decref(json_loadb((const char *)data, size, 0, NULL));
  return 0;
}
