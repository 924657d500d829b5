// Reads the input as a font with FreeType, and draws its first glyphs. See README.md.
#include <ft2build.h>
#include FT_FREETYPE_H
#include <stddef.h>
#include <stdint.h>

enum { MOST_FACES = 3, MOST_GLYPHS = 24, PIXELS = 24 };

// Loads glyphs with hints, and draws them; and what text is set with: characters and kerning.
static void draw(FT_Face face) {
  FT_Set_Pixel_Sizes(face, PIXELS, PIXELS);
  if (face->num_fixed_sizes > 0) FT_Select_Size(face, 0);
  for (FT_Long glyph = 0; glyph < face->num_glyphs && glyph < MOST_GLYPHS; glyph++)
    if (FT_Load_Glyph(face, (FT_UInt)glyph, FT_LOAD_DEFAULT) == 0) FT_Render_Glyph(face->glyph, FT_RENDER_MODE_NORMAL);
  FT_UInt glyph = 0;
  FT_ULong character = FT_Get_First_Char(face, &glyph);
  for (int at = 0; glyph != 0 && at < MOST_GLYPHS; at++) {
    FT_Vector kerning;
    FT_Get_Kerning(face, glyph, glyph, FT_KERNING_DEFAULT, &kerning);
    character = FT_Get_Next_Char(face, character, &glyph);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FT_Library library;
  if (FT_Init_FreeType(&library) != 0) return 0;
  FT_Long faces = 1;
  for (FT_Long number = 0; number < faces && number < MOST_FACES; number++) {
    FT_Face face;
    if (FT_New_Memory_Face(library, data, (FT_Long)size, number, &face) != 0) break;
    faces = face->num_faces;
    draw(face);
    FT_Done_Face(face);
  }
  FT_Done_FreeType(library);
  return 0;
}
