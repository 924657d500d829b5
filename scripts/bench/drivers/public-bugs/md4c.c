/* Renders Markdown to HTML with what GitHub adds to it. */
#include <stddef.h>
#include <stdint.h>

#include "md4c-html.h"

static void ignore(const MD_CHAR *text, MD_SIZE size, void *data) { (void)text, (void)size, (void)data; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  md_html((const MD_CHAR *)data, (MD_SIZE)size, ignore, NULL, MD_DIALECT_GITHUB, 0);
  return 0;
}
