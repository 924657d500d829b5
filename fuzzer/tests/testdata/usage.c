// Wants the name of a file, and says so. With a second argument it does not care what is in the file.
#include <stdio.h>

int main(int count, char **arguments) {
  if (count < 2) {
    fprintf(stderr, "usage: usage FILE\n");
    return 2;
  }
  FILE *file = fopen(arguments[1], "r");
  int sum = 0;
  for (int byte; count < 3 && file && (byte = fgetc(file)) != EOF;) sum += byte;
  return sum == 1;
}
