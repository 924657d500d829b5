#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <jq.h>

/* Asked for by functions of jq's util.c that are not called. */
void jq_get_input_cb(jq_state *jq, jq_input_cb *callback, void **data) {
  (void)jq, (void)callback, (void)data;
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  jv_free(jv_parse_sized((const char *)data, (int)size));
  return 0;
}
