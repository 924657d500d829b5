// Makes HTML of Markdown with cmark: mostly linear, and slow where it is not.
#define CMARK_STATIC_DEFINE
#include <cmark.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  free(cmark_markdown_to_html((const char *)data, size, CMARK_OPT_DEFAULT));
  return 0;
}
