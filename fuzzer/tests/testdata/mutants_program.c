/* A program whose mutants show in its output and its exit status. It reads standard input, or the file that is named. */
#include <stdio.h>

static int digits(FILE *file) {
  int found = 0;
  for (int c = getc(file); c != EOF; c = getc(file))
    if (c >= '0' && c <= '9') /* digit */
      found++;
  return found;
}

static int status_of(int found) {
  return found == 0; /* status */
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
  int found = file ? digits(file) : -1;
  printf("%d\n", found);
  return status_of(found);
}
