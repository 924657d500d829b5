// What grows with the square of the number of parts that repeat, in formats that look at all of their input first:
// B: brackets, each of which looks for the end of the line
// N: names and values, no name twice; D: elements behind lengths, as in DER
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static volatile size_t sink;

__attribute__((noinline)) static void look_for_end(const uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (data[i] == '[')
      for (size_t j = i; j < size && data[j] != '\n'; j++)
        sink++;
}

__attribute__((noinline)) static int check_names(const uint8_t *data, size_t size) {
  static size_t names[4096];
  size_t count = 0;
  for (size_t i = 0; i < size; i++) {
    if (data[i] != ' ')
      continue;
    size_t end = i + 1, name = 5381;
    while (end < size && data[end] != '=' && data[end] != ' ')
      name = 33 * name + data[end++];
    // a name without a value ends it, and a name twice
    if (end == size || data[end] == ' ')
      return -1;
    for (size_t k = 0; k < count; k++)
      if (names[k] == name)
        return -1;
    if (count < sizeof names / sizeof *names)
      names[count++] = name;
  }
  return 0;
}

static size_t length_at(const uint8_t *data, size_t size, size_t *at) {
  if (*at >= size)
    return SIZE_MAX;
  size_t first = data[(*at)++], value = 0;
  if (first < 128)
    return first;
  if (first == 128 || first > 131 || size - *at < first - 128)
    return SIZE_MAX;
  for (size_t i = 128; i < first; i++)
    value = value << 8 | data[(*at)++];
  return value;
}

__attribute__((noinline)) static void compare_with_all(const uint8_t *data, size_t before) {
  for (size_t i = 0; i < before; i++)
    sink += data[i] == 2;
}

static int elements(const uint8_t *data, size_t size) {
  size_t at = 1;
  if (length_at(data, size, &at) != size - at)
    return -1;
  size_t start = at;
  while (at < size) {
    if (data[at++] != 2)
      return -1;
    size_t length = length_at(data, size, &at);
    if (length > size - at)
      return -1;
    compare_with_all(data + start, at - start);
    at += length;
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4)
    return -1;
  switch (data[0]) {
  case 'B':
    // accepted with its end only
    if (memcmp(data + size - 2, "!\n", 2))
      return -1;
    look_for_end(data, size);
    return 0;
  case 'N':
    return check_names(data, size);
  case '0':
    return elements(data, size);
  }
  return -1;
}
