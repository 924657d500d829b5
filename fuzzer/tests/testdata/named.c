// A program that goes by the name of its file: it refuses one that does not end in .json. Its time grows with the square of the
// number of x in it. The first argument says what else it does, as programs do that write files.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile unsigned long rounds;

static void write_new(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0 || write(file, text, strlen(text)) < 0) abort();
  close(file);
}

int main(int count, char **arguments) {
  if (count < 3) return 1;
  const char *deed = arguments[1], *path = arguments[2];
  size_t length = strlen(path);
  if (length < 5 || strcmp(path + length - 5, ".json") != 0) {
    fprintf(stderr, "%s is no .json file\n", path);
    return 1;
  }
  FILE *input = fopen(path, "r");
  if (input == NULL) abort();
  unsigned long marks = 0;
  for (int c; (c = getc(input)) != EOF;) marks += c == 'x';
  fclose(input);
  for (unsigned long i = 0; i < 300 * marks * marks; i++) rounds++;
  char other[4096];
  snprintf(other, sizeof other, "%s.out", path);
  switch (deed[0]) {
  case 'd': // removes its input
    if (unlink(path) != 0) abort();
    break;
  case 'r': // makes way for its output, as compressors do
    if (rename(path, other) != 0) abort();
    break;
  case 'o': { // makes it longer, and forbids everybody to read it
    int file = open(path, O_WRONLY | O_APPEND);
    if (file < 0 || write(file, "xxxxxxxxxxxxxxxx", 16) != 16 || chmod(path, 0) != 0) abort();
    break;
  }
  case 'b': // writes beside it
    write_new(other, "beside");
    break;
  case 'w': // writes to its working folder, which is new
    if (mkdir("deep", 0700) != 0) abort();
    write_new("deep/written", "x");
    break;
  case 'l': { // litters
    int file = open("litter", O_WRONLY | O_CREAT, 0600);
    if (file >= 0) close(file);
    break;
  }
  case '/': // tells its path to somebody, who reads one that is whole at any time
    snprintf(other, sizeof other, "%s.%d", deed, (int)getpid());
    write_new(other, path);
    if (rename(other, deed) != 0) abort();
    break;
  default: break;
  }
  return 0;
}
