// Reads the input as JSON with jansson, and writes it again. See README.md.
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../common/accepted.h"
#include "../common/shown.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  json_object_seed(1); // otherwise a random one, and runs would not repeat themselves
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  json_error_t error;
  json_t *value = json_loadb((const char *)data, size, JSON_DECODE_ANY, &error);
  if (!value) return 0;
  accepted();
  char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);
  if (text) qgm_observe(text, strlen(text));
  free(text);
  json_decref(value);
  return 0;
}
