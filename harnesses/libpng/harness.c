// Reads the input as a PNG image with libpng. See README.md.
#include <png.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_SIDE = 1024, LARGEST_CHUNK = 1 << 20 };

struct input {
  const uint8_t *bytes;
  size_t left;
};

static void read_bytes(png_structp png, png_bytep to, size_t size) {
  struct input *input = png_get_io_ptr(png);
  if (size > input->left) png_error(png, "the image ends early");
  memcpy(to, input->bytes, size);
  input->bytes += size;
  input->left -= size;
}

static void give_up(png_structp png, png_const_charp message) {
  (void)message;
  longjmp(png_jmpbuf(png), 1);
}

static void say_nothing(png_structp png, png_const_charp message) { (void)png, (void)message; }

// Reads all rows, of all passes, as 8-bit RGBA. What it allocated is in *row when libpng jumps out of it.
static void read_image(png_structp png, png_infop info, png_bytep volatile *row) {
  png_read_info(png, info);
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  *row = calloc(1, png_get_rowbytes(png, info));
  if (!*row) return;
  png_uint_32 height = png_get_image_height(png, info);
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 y = 0; y < height; ++y) png_read_row(png, *row, NULL);
  }
  png_read_end(png, info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct input input = {data, size};
  png_bytep volatile row = NULL; // volatile: changed between setjmp and longjmp
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, give_up, say_nothing);
  if (!png) return 0;
  png_infop info = png_create_info_struct(png);
  if (info && setjmp(png_jmpbuf(png)) == 0) {
    png_set_read_fn(png, &input, read_bytes);
    // no mutant has correct checksums
    png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
#ifdef PNG_IGNORE_ADLER32 // not in all builds of libpng
    png_set_option(png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
    png_set_user_limits(png, LARGEST_SIDE, LARGEST_SIDE);
    png_set_chunk_malloc_max(png, LARGEST_CHUNK);
    read_image(png, info, &row);
  }
  free(row);
  png_destroy_read_struct(&png, &info, NULL);
  return 0;
}
