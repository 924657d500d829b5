// Behind three comparisons of several bytes each: work that grows with the square of what follows.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static volatile unsigned sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 22 || memcmp(data, "quagmire-magic", 14) != 0) return 0;
  uint32_t form, section;
  memcpy(&form, data + 14, 4);
  if (form != 0x46464952) return 0;
  memcpy(&section, data + 18, 4);
  switch (section) {
  case 0x44414548: sink = 1; break;
  case 0x59444f42:
    for (size_t i = 22; i < size; i++)
      for (size_t j = 22; j < size; j++) sink += data[j];
    break;
  case 0x4c494154: sink = 2; break;
  }
  return 0;
}
