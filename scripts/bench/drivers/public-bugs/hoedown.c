/* Renders Markdown to HTML with the extensions that most users of misaka turn on. */
#include <stddef.h>
#include <stdint.h>

#include "document.h"
#include "html.h"

/* misaka's own */
enum { NESTING = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hoedown_renderer *renderer = hoedown_html_renderer_new(0, 0);
  hoedown_document *document = hoedown_document_new(
      renderer, HOEDOWN_EXT_BLOCK | HOEDOWN_EXT_AUTOLINK | HOEDOWN_EXT_STRIKETHROUGH | HOEDOWN_EXT_SUPERSCRIPT, NESTING);
  hoedown_buffer *html = hoedown_buffer_new(64);
  hoedown_document_render(document, html, data, size);
  hoedown_buffer_free(html);
  hoedown_document_free(document);
  hoedown_html_renderer_free(renderer);
  return 0;
}
