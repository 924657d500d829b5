// Decodes base64 as RFC 4648 has it, with line breaks; what is no digit ends it.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static volatile size_t decoded;

static int digit(uint8_t byte) {
  if (byte >= 'A' && byte <= 'Z') return byte - 'A';
  if (byte >= 'a' && byte <= 'z') return byte - 'a' + 26;
  if (byte >= '0' && byte <= '9') return byte - '0' + 52;
  if (byte == '+') return 62;
  return byte == '/' ? 63 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *out = malloc(size / 4 * 3 + 3);
  if (!out) return 0;
  size_t length = 0;
  uint32_t group = 0;
  unsigned digits = 0;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '\n' || data[i] == '\r') continue;
    int value = digit(data[i]);
    if (value < 0) break;
    group = group << 6 | (uint32_t)value;
    if (++digits == 4) {
      out[length++] = (uint8_t)(group >> 16);
      out[length++] = (uint8_t)(group >> 8);
      out[length++] = (uint8_t)group;
      digits = 0;
      group = 0;
    }
  }
  decoded = length + (length ? out[length - 1] : 0);
  free(out);
  return 0;
}
