// Memory, and texts that are copied. See README.md.
#include "laws.h"

static void copy(uint8_t *to, const uint8_t *from, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    to[i] = from[i];
    __asm__ volatile("" ::: "memory"); // or it becomes a call of memcpy, which is not counted
  }
}

// Appends byte by byte to a block that grows by `step` bytes, or twice as large if `step` is 0.
static void append_all(const uint8_t *data, size_t size, size_t step) {
  size_t room = 16;
  uint8_t *text = malloc(room);
  for (size_t i = 0; text && i < size; ++i) {
    if (i == room) {
      size_t larger = step ? room + step : room * 2;
      uint8_t *next = malloc(larger);
      if (next) copy(next, text, room);
      free(text);
      text = next, room = larger;
      if (!text) break;
    }
    text[i] = data[i];
  }
  kept = text && size > 0 ? text[size / 2] : 0;
  free(text);
}

PROGRAM(append_doubling) { append_all(data, size, 0); }

PROGRAM(append_fixed_step) { append_all(data, size, 16); }

// Words between spaces are joined as strcat does it: from the start of the text each time.
PROGRAM(join_words) {
  uint8_t *text = malloc(size + 1);
  if (!text) return;
  text[0] = 0;
  for (size_t i = 0; i < size;) {
    size_t length = 0, end = 0;
    while (i + length < size && data[i + length] != ' ') ++length;
    while (text[end]) ++end;
    copy(text + end, data + i, length);
    text[end + length] = 0;
    i += length + 1;
  }
  kept = text[0];
  free(text);
}

// A bit for each pair: little work, much memory.
PROGRAM(matrix_of_bits) {
  size_t bytes = size * size / 8 + 1;
  uint8_t *matrix = malloc(bytes);
  if (!matrix) return;
  for (size_t i = 0; i < size; ++i) matrix[i * size / 8] = data[i];
  kept = matrix[bytes / 2 / (size + 1)];
  free(matrix);
}

static void multiply(const uint32_t *a, const uint32_t *b, uint64_t *to, size_t count) {
  if (count <= 4) {
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < count; ++j) to[i + j] += (uint64_t)a[i] * b[j] & 0xffffff;
    }
    return;
  }
  // as Karatsuba does it: three products of half the size; the sums are left out, this is about the work
  size_t half = count / 2, rest = count - half;
  multiply(a, b, to, half);
  multiply(a + half, b + half, to + 2 * half, rest);
  multiply(a, b + half, to + half, half);
  for (size_t i = 0; i < count; ++i) to[i] = stir(to[i]);
}

PROGRAM(three_halves) {
  size_t count = size / KEY / 2;
  uint32_t *a = malloc((count + 1) * sizeof *a), *b = malloc((count + 1) * sizeof *b);
  uint64_t *product = calloc(2 * count + 8, sizeof *product);
  for (size_t i = 0; a && b && i < count; ++i) a[i] = key_at(data, i), b[i] = key_at(data, count + i);
  if (a && b && product) multiply(a, b, product, count);
  kept = product ? product[count / 2] : 0;
  free(a);
  free(b);
  free(product);
}

// Decimal digits to words of 32 bits: each digit multiplies all words so far.
PROGRAM(decimal_to_binary) {
  size_t used = 1;
  uint32_t *words = calloc(size / 9 + 2, sizeof *words);
  if (!words) return;
  for (size_t i = 0; i < size && data[i] >= '0' && data[i] <= '9'; ++i) {
    uint64_t carry = data[i] - '0';
    for (size_t w = 0; w < used; ++w) {
      carry += (uint64_t)words[w] * 10;
      words[w] = (uint32_t)carry;
      carry >>= 32;
    }
    if (carry) words[used++] = (uint32_t)carry;
  }
  kept = words[0];
  free(words);
}
