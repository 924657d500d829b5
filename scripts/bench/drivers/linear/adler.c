// Adler-32 and CRC-32 of the input: the same work for every byte.
#include <stddef.h>
#include <stdint.h>

enum { MODULUS = 65521, UNTIL_OVERFLOW = 5552 };

static volatile uint32_t result;

static uint32_t adler(const uint8_t *data, size_t size) {
  uint32_t a = 1, b = 0;
  while (size > 0) {
    size_t block = size < UNTIL_OVERFLOW ? size : UNTIL_OVERFLOW;
    size -= block;
    for (; block > 0; --block) {
      a += *data++;
      b += a;
    }
    a %= MODULUS;
    b %= MODULUS;
  }
  return b << 16 | a;
}

static uint32_t crc(const uint8_t *data, size_t size) {
  static uint32_t table[256];
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? 0xedb88320u ^ value >> 1 : value >> 1;
    table[i] = value;
  }
  uint32_t sum = ~0u;
  for (size_t i = 0; i < size; ++i) sum = table[(sum ^ data[i]) & 255] ^ sum >> 8;
  return ~sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  result = adler(data, size) ^ crc(data, size);
  return 0;
}
