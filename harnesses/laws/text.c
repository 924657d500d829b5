// Texts: brackets, patterns, definitions. See README.md.
#include <string.h>

#include "laws.h"

struct text {
  const uint8_t *data;
  size_t size;
};

// noinline: a level of the input is a level of the stack
__attribute__((noinline)) static size_t brackets_at(struct text *text, size_t at) {
  while (at < text->size && text->data[at] == '(') at = brackets_at(text, at + 1);
  kept = at;
  return at < text->size ? at + 1 : at;
}

PROGRAM(nested_brackets) {
  struct text text = {data, size};
  kept = brackets_at(&text, 0);
}

// For each opening bracket, looks for the one that closes it.
PROGRAM(matching_brackets) {
  uint64_t distances = 0;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] != '(') continue;
    size_t depth = 1, at = i + 1;
    for (; at < size && depth > 0; ++at) {
      if (data[at] == '(') ++depth;
      if (data[at] == ')') --depth;
    }
    distances += at - i;
  }
  kept = distances;
}

// (a|aa)*b by going back: as many ways as Fibonacci has numbers.
static int one_or_two(const uint8_t *data, size_t left) {
  if (left == 0) return 0;
  if (*data == 'b') return 1;
  if (*data != 'a') return 0;
  if (one_or_two(data + 1, left - 1)) return 1;
  return left > 1 && data[1] == 'a' && one_or_two(data + 2, left - 2);
}

PROGRAM(alternatives) { kept = one_or_two(data, size); }

// (a+)+b by going back: a plus may end at each letter.
static int nested_plus(const uint8_t *data, size_t left) {
  size_t run = 0;
  while (run < left && data[run] == 'a') ++run;
  if (run > 0 && run < left && data[run] == 'b') return 1;
  for (; run > 0; --run) {
    if (nested_plus(data + run, left - run)) return 1;
  }
  return 0;
}

PROGRAM(nested_quantifiers) { kept = nested_plus(data, size); }

// Looks for blanks at the end of the text from each blank.
PROGRAM(trailing_blanks) {
  for (size_t i = 0; i < size; ++i) {
    size_t end = i;
    while (end < size && data[end] == ' ') ++end;
    if (end > i && end == size) {
      kept = i;
      return;
    }
  }
}

static int matches(const char *pattern, const uint8_t *data, size_t left) {
  for (; *pattern; ++pattern) {
    if (*pattern == '*') {
      for (size_t skip = 0; skip <= left; ++skip) {
        if (matches(pattern + 1, data + skip, left - skip)) return 1;
      }
      return 0;
    }
    if (left == 0 || *data != (uint8_t)*pattern) return 0;
    ++data, --left;
  }
  return left == 0;
}

PROGRAM(two_stars) { kept = matches("*a*b", data, size); }

PROGRAM(three_stars) { kept = matches("*a*a*b", data, size); }

// The first quarter, looked for in the rest.
PROGRAM(needle) {
  size_t quarter = size / 4, found = 0;
  for (size_t at = quarter; at + quarter <= size; ++at) {
    size_t same = 0;
    while (same < quarter && data[same] == data[at + same]) ++same;
    found += same == quarter;
  }
  kept = found;
}

// The longest common subsequence of both halves.
PROGRAM(common_subsequence) {
  size_t half = size / 2;
  uint32_t *row = calloc(half + 1, sizeof *row);
  for (size_t i = 0; row && i < half; ++i) {
    uint32_t diagonal = 0;
    for (size_t j = 0; j < half; ++j) {
      uint32_t above = row[j + 1];
      uint32_t best = data[i] == data[half + j] ? diagonal + 1 : above > row[j] ? above : row[j];
      row[j + 1] = best, diagonal = above;
    }
  }
  kept = row ? row[half] : 0;
  free(row);
}

// Each letter x stands for twice what comes after it.
static void expand(const uint8_t *data, size_t left) {
  if (left == 0 || *data != 'x') {
    kept = left;
    return;
  }
  expand(data + 1, left - 1);
  expand(data + 1, left - 1);
}

PROGRAM(doubled_definitions) { expand(data, size); }

// Lines, each compared with the one before it: the longest common prefix.
PROGRAM(common_prefixes) {
  size_t before = 0, before_length = 0, start = 0, sum = 0;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] != '\n') continue;
    size_t length = i - start, same = 0;
    while (same < length && same < before_length && data[start + same] == data[before + same]) ++same;
    sum += same, before = start, before_length = length, start = i + 1;
  }
  kept = sum;
}
