/* A library that testdata/sancov.c opens. */
static volatile unsigned sink;

void in_library(unsigned rounds) {
  for (unsigned i = 0; i < rounds; i++)
    sink += i;
}
