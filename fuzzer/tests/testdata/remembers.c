/* Adds up its own work and writes the largest amount so far to the file that REMEMBERS names: what a campaign says is the
   worst can be compared with what was the worst. A run counts only if it returns 0. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile uint64_t work;
  work = 0;
  for (size_t i = 0; i + 1 < size; i++)
    for (unsigned n = data[i] ^ data[i + 1]; n; n &= n - 1)
      work++;
  if (size && data[0] == '!')
    return -1;
  const char *name = getenv("REMEMBERS");
  int file = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;
  if (file >= 0) {
    uint64_t largest = 0, now = work;
    if (pread(file, &largest, sizeof largest, 0) != sizeof largest || now > largest)
      (void)!pwrite(file, &now, sizeof now, 0);
    close(file);
  }
  return 0;
}
