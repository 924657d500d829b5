/* Renders Markdown to HTML as the program `markdown` does. */
#include <stdint.h>
#include <stdio.h>

#include "mkdio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MMIOT *document = mkd_string((const char *)data, (int)size, 0);
  char *html;
  if (document && mkd_compile(document, 0))
    mkd_document(document, &html);
  if (document)
    mkd_cleanup(document);
  return 0;
}
