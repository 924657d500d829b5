// A program as there are many, without a harness: reads standard input, or the file that is named, and does by its first
// byte what programs do that a fuzzer has to survive. The rest says how often its loop goes round.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned round_and_round(const char *bytes, size_t size) {
  unsigned sum = 0;
  for (size_t i = 0; i < size; i++)
    sum += (unsigned char)bytes[i];
  return sum;
}

int main(int argc, char **argv) {
  char bytes[4096];
  int input = argc > 1 ? open(argv[1], O_RDONLY) : 0;
  if (input < 0) {
    perror(argv[1]);
    return 9;
  }
  ssize_t size = read(input, bytes, sizeof bytes);
  if (size <= 0) return 2;
  char *block = malloc(1000);
  memset(block, 1, 1000);
  printf("%u %u\n", round_and_round(bytes, (size_t)size), round_and_round(block, 10));
  free(block);
  switch (bytes[0]) {
  case '0': *(volatile int *)16 = 1; break;
  case '1': abort();
  case '2': for (;;) round_and_round(bytes, 1);
  case '3': signal(SIGTERM, SIG_IGN); for (;;) pause();
  case '4': exit(3);
  case '5': _exit(4);
  case '6': raise(SIGKILL); break;
  case '7': // leaves a child behind that holds everything open
    if (fork() == 0) for (;;) pause();
    break;
  case '8': // more and more memory
    for (;;) memset(malloc(1 << 20), 1, 1 << 20);
  case ':': // a process of its own ends before it
    if (fork() == 0) _exit(0);
    for (;;) pause();
  case '9': // writes to its input and to descriptors that it does not know
    for (int file = 3; file < 256; file++)
      if (write(file, "x", 0) < 0) continue;
    break;
  }
  return 1;
}
