// What the programs that count the cost of sorting a file share.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Prints "COST FILE" for each file named on the command line, and returns the program's exit code.
static int count_files(int argc, char **argv, size_t (*sort)(uint8_t *bytes, size_t size)) {
  for (int i = 1; i < argc; ++i) {
    FILE *file = fopen(argv[i], "rb");
    uint8_t *bytes = NULL;
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size >= 0) bytes = malloc((size_t)size + 1);
    if (!bytes || fseek(file, 0, SEEK_SET) != 0 || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
      fprintf(stderr, "%s: can't read it\n", argv[i]);
      return 1;
    }
    fclose(file);
    printf("%zu %s\n", sort(bytes, (size_t)size), argv[i]);
    free(bytes);
  }
  return 0;
}
