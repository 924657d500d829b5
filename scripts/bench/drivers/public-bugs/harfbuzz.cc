// Shapes the input as UTF-8 text, with a font that has anchors for marks (GPOS).
#include <cstddef>
#include <cstdint>

#include <hb-ot.h>
#include <hb.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static hb_font_t *font = hb_font_create(hb_face_create(hb_blob_create_from_file(FONT), 0));
  hb_buffer_t *buffer = hb_buffer_create();
  hb_buffer_add_utf8(buffer, reinterpret_cast<const char *>(data), static_cast<int>(size), 0, -1);
  hb_buffer_guess_segment_properties(buffer);
  hb_shape(font, buffer, nullptr, 0);
  hb_buffer_destroy(buffer);
  return 0;
}
