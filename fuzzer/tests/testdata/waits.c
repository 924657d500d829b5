// Waits as many hundredths of a second as the number in its input says.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char text[8] = "";
  for (size_t i = 0; i < size && i + 1 < sizeof text; i++) text[i] = (char)data[i];
  for (unsigned long left = strtoul(text, NULL, 10); left > 0; left--) usleep(10000);
  return 0;
}
