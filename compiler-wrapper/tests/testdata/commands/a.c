/* A program of two sources and a header. */
#include "a.h"
#include <stdio.h>
int main(int argc, char **argv) {
  (void)argv;
  printf("%d\n", twice(argc));
  return 0;
}
