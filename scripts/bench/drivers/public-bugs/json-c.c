#include <stddef.h>
#include <stdint.h>

#include <json.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct json_tokener *tokener = json_tokener_new();
  json_object_put(json_tokener_parse_ex(tokener, (const char *)data, (int)size));
  json_tokener_free(tokener);
  return 0;
}
