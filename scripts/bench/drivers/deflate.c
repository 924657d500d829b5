// Compresses generated text. Times itself: CPU seconds of the work on standard output.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

int main(int argc, char **argv) {
  static const char *words[] = {"bog", "fen", "marsh", "mire", "quagmire", "swamp", "the", "of", "and", "moss", "peat", "reed"};
  size_t size = 4 << 20, at = 0;
  char *text = malloc(size + 64);
  unsigned long state = 12345;
  while (at < size) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    at += (size_t)sprintf(text + at, "%s%s", words[(state >> 33) % 12], (state >> 60) ? " " : ".\n");
    if ((state >> 50) % 7 == 0)
      at += (size_t)sprintf(text + at, "%lu ", (state >> 40) % 5000);
  }
  uLong room = compressBound(size);
  Bytef *out = malloc(room);
  int rounds = argc > 1 ? atoi(argv[1]) : 3;
  clock_t start = clock();
  for (int i = 0; i < rounds; i++) {
    uLongf length = room;
    if (compress2(out, &length, (const Bytef *)text, size, 6) != Z_OK)
      return 1;
  }
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return 0;
}
