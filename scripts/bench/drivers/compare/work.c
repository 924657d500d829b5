// A program whose parts are slower by a factor, or by law, as macros say: for `compare`, which has to find that.
//   PART, ROUNDS  a part, 0 to 5, that works ROUNDS times, where all others work 10 times
//   LAW           a part, 1 to 6, whose law is worse
// The parts do what programs spend their time on: arithmetic, tables, branches, division, a walk through memory, a sort.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef PART
#define PART -1
#endif
#ifndef ROUNDS
#define ROUNDS 10
#endif
#ifndef LAW
#define LAW 0
#endif
#define TIMES(part) ((part) == PART ? ROUNDS : 10)
#define PART_OF_PROGRAM __attribute__((noinline)) static unsigned

PART_OF_PROGRAM arithmetic(const uint8_t *data, size_t size) {
  unsigned sum = 1;
  for (int round = 0; round < TIMES(0); round++)
    for (size_t i = 0; i < size; i++)
      sum = sum * 31 + (data[i] ^ sum >> 7);
  return sum;
}

PART_OF_PROGRAM tables(const uint8_t *data, size_t size) {
  static unsigned counts[256];
  for (int round = 0; round < TIMES(1); round++)
    for (size_t i = 0; i < size; i++)
      counts[data[i]] += (unsigned)i;
  return counts['a'];
}

PART_OF_PROGRAM branches(const uint8_t *data, size_t size) {
  unsigned words = 0, digits = 0;
  for (int round = 0; round < TIMES(2); round++)
    for (size_t i = 0; i < size; i++) {
      if (data[i] >= '0' && data[i] <= '9')
        digits++;
      else if (data[i] == ' ' || data[i] == '\n')
        words += digits;
      else if (data[i] > 'm')
        words++;
    }
  return words;
}

PART_OF_PROGRAM division(const uint8_t *data, size_t size) {
  unsigned rest = 12345;
  for (int round = 0; round < TIMES(3); round++)
    for (size_t i = 0; i < size; i++)
      rest = (rest * 257u + data[i]) % 65521u;
  return rest;
}

PART_OF_PROGRAM walk(const uint8_t *data, size_t size) {
  static uint16_t next[4096];
  for (size_t i = 0; i < 4096; i++)
    next[i] = (uint16_t)((i * 1237 + 11) % 4096);
  unsigned at = 0;
  for (int round = 0; round < TIMES(4); round++)
    for (size_t i = 0; i < size; i++)
      at = (next[at] + data[i]) % 4096;
  return at;
}

PART_OF_PROGRAM sorted(const uint8_t *data, size_t size) {
  unsigned runs = 0;
  uint8_t part[64];
  for (int round = 0; round < TIMES(5); round++)
    for (size_t at = 0; at < size; at += sizeof part) {
      size_t n = size - at < sizeof part ? size - at : sizeof part;
      memcpy(part, data + at, n);
      for (size_t i = 1; i < n; i++) {
        size_t j = i;
        for (; j > 0 && i - j < 4 && part[j - 1] > part[j]; j--) {
          uint8_t swapped = part[j];
          part[j] = part[j - 1], part[j - 1] = swapped;
        }
        runs += (unsigned)j;
      }
    }
  return runs;
}

// 1: what is known is looked for from the start
PART_OF_PROGRAM distinct(const uint8_t *data, size_t size) {
  unsigned found = 0;
  uint8_t known[256] = {0};
  for (size_t i = 0; i < size; i++) {
    if (LAW == 1) {
      size_t j = 0;
      while (j < i && !(data[j] == data[i] && j + 1 == i))
        j++;
      found += j == i;
    } else {
      found += !known[data[i]];
      known[data[i]] = 1;
    }
  }
  return found;
}

// 2: the length is computed again for each character
PART_OF_PROGRAM letters(const char *text, size_t size) {
  unsigned found = 0;
  for (size_t i = 0; i < size; i++) {
    size_t length = size;
    if (LAW == 2)
      for (length = 0; text[length]; length++) {
      }
    found += i < length && text[i] > '@';
  }
  return found;
}

// 3: each open bracket looks for its end
PART_OF_PROGRAM brackets(const char *text, size_t size) {
  unsigned depth = 0, deepest = 0;
  for (size_t i = 0; i < size; i++) {
    if (LAW == 3 && text[i] == '[')
      for (size_t j = i; j < size && text[j] != ';'; j++)
        deepest += text[j] == '\n';
    depth += text[i] == '[';
    depth -= text[i] == ']' && depth;
    deepest = depth > deepest ? depth : deepest;
  }
  return deepest;
}

// 4: a buffer grows by a constant and is copied each time
PART_OF_PROGRAM copies(const uint8_t *data, size_t size) {
  size_t room = 64, used = 0;
  uint8_t *buffer = malloc(room);
  for (size_t i = 0; i < size; i++) {
    if (used == room) {
      size_t more = LAW == 4 ? room + 64 : room * 2;
      uint8_t *larger = malloc(more);
      for (size_t j = 0; j < used; j++)
        larger[j] = buffer[j];
      free(buffer);
      buffer = larger, room = more;
    }
    buffer[used++] = data[i];
  }
  unsigned last = used ? buffer[used - 1] : 0;
  free(buffer);
  return last;
}

// 5: lines are compared with all lines before instead of the last one
PART_OF_PROGRAM lines(const char *text, size_t size) {
  unsigned equal = 0;
  const char *end = text + size;
  for (const char *line = text; line < end; line++) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    stop = stop ? stop : end;
    for (const char *other = LAW == 5 ? text : line; other < line; other++)
      equal += *other == '\n';
    line = stop;
  }
  return equal;
}

// 6: numbers are added up once more for each number
PART_OF_PROGRAM numbers(const uint8_t *data, size_t size) {
  unsigned sum = 0, root = 1;
  while ((size_t)root * root < size)
    root++;
  for (size_t i = 0; i < size; i++)
    for (size_t j = 0; j < (LAW == 6 ? root : 1); j++)
      sum += data[j] + (unsigned)i;
  return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile unsigned result;
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = 0;
  if (PART >= 0) {
    // the part by itself and one that is not changed
    unsigned (*parts[])(const uint8_t *, size_t) = {arithmetic, tables, branches, division, walk, sorted};
    result = parts[PART % 6](data, size) + parts[(PART + 1) % 6](data, size / 4);
  } else {
    result = distinct(data, size) + letters(text, size) + brackets(text, size) + copies(data, size) + lines(text, size) +
             numbers(data, size);
  }
  free(text);
  return 0;
}
