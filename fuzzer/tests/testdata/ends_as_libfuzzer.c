/* A harness that ends its run as the byte after `end!` says, in ways that libFuzzer has a report for. Other inputs are only
   read, with more buckets the longer they are. */
#include <stdint.h>
#include <stdlib.h>

volatile int never, sum;

/* Whether the input begins with `end!`; said so that neither fuzzer reads it in the code, or finds it byte by byte. */
static int begins(const uint8_t *data) {
  static volatile uint8_t shift = 1;
  uint8_t differ = 0;
  for (size_t i = 0; i < 4; i++)
    differ |= (uint8_t)(data[i] + shift) ^ (uint8_t)"foe\""[i];
  return differ == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; i++)
    sum += data[i];
  if (size < 5 || !begins(data))
    return 0;
  switch (data[4]) {
  case 'a':
    abort();
  case 'x':
    exit(3);
  case 'h':
    while (!never)
      ;
    break;
  case 'm':
    while (!never) {
      volatile char *block = malloc(1 << 20);
      for (size_t i = 0; block && i < 1 << 20; i += 4096)
        block[i] = 1;
    }
  }
  return 0;
}
