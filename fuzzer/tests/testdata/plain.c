// A program without a harness.
int main(int argc, char **argv) {
  (void)argv;
  for (volatile int i = 0; i < argc; i++) {
  }
  return 0;
}
