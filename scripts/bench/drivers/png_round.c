// Writes and reads a generated picture. Times itself: CPU seconds of the work on standard output.
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIDE = 512 };

int main(int argc, char **argv) {
  static unsigned char points[SIDE * SIDE * 3], back[SIDE * SIDE * 3];
  unsigned long state = 5;
  for (size_t i = 0; i < sizeof points; i++) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    points[i] = (unsigned char)((i / 3 % SIDE) / 4 + (i / (3 * SIDE)) / 8 + (state >> 62));
  }
  png_alloc_size_t room = sizeof points * 2;
  unsigned char *file = malloc(room);
  int rounds = argc > 1 ? atoi(argv[1]) : 3;
  clock_t start = clock();
  for (int i = 0; i < rounds; i++) {
    png_image image = {.version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = PNG_FORMAT_RGB};
    png_alloc_size_t length = room;
    if (!png_image_write_to_memory(&image, file, &length, 0, points, 0, NULL))
      return 1;
    png_image read = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&read, file, length))
      return 1;
    read.format = PNG_FORMAT_RGB;
    if (!png_image_finish_read(&read, NULL, back, 0, NULL))
      return 1;
  }
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return 0;
}
