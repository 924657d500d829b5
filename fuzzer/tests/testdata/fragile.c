// Most of the work is done for any input. A little more comes with a long beginning, which many changes break, and a very
// little more with each byte behind it.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static volatile unsigned sink;

static void work(size_t rounds) {
  for (size_t i = 0; i < rounds; ++i) sink += i;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char beginning[] = "<slow><slower><slowest>";
  const size_t length = sizeof beginning - 1;
  work(2000);
  if (size >= length && memcmp(data, beginning, length) == 0)
    work(400 + size - length);
  return 0;
}
