// Work in the C library, which is not counted, or by an estimate. See README.md.
#define _GNU_SOURCE
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "laws.h"

// The input as a text that ends with a zero.
static char *text_of(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text) memcpy(text, data, size), text[size] = 0;
  return text;
}

static void match(const char *pattern, const uint8_t *data, size_t size) {
  regex_t compiled;
  regmatch_t matches[3];
  char *text = text_of(data, size);
  if (text && regcomp(&compiled, pattern, REG_EXTENDED) == 0) {
    kept = regexec(&compiled, text, 3, matches, 0);
    regfree(&compiled);
  }
  free(text);
}

PROGRAM(back_reference) { match("(x+)*y\\1", data, size); }

// Each line by itself: the cost of one is quadratic, and that of all is what their number makes of it.
PROGRAM(back_reference_lines) {
  struct part text = {data, size};
  while (text.size > 0) {
    struct part line = take_until(&text, "\n");
    match("^([a-z]+).*\\1$", line.data, line.size);
  }
}

PROGRAM(stars_of_fnmatch) {
  char *text = text_of(data, size);
  kept = text ? fnmatch("*a*a*b", text, 0) : 0;
  free(text);
}

// sscanf asks for the length of all that is left, each time.
PROGRAM(numbers_by_sscanf) {
  char *text = text_of(data, size), *at = text;
  int number, used;
  uint64_t sum = 0;
  while (at && sscanf(at, "%d%n", &number, &used) == 1) sum += number, at += used;
  kept = sum;
  free(text);
}

// Each word is printed behind all those before it.
PROGRAM(printed_again) {
  struct part text = {data, size};
  char *all = calloc(size * 2 + 2, 1), *next = calloc(size * 2 + 2, 1);
  while (all && next && text.size > 0) {
    struct part word = take_until(&text, " ");
    snprintf(next, size * 2 + 2, "%s%.*s.", all, (int)word.size, (const char *)word.data);
    char *swap = all;
    all = next, next = swap;
  }
  kept = all ? (uint8_t)all[size / 2] : 0;
  free(all);
  free(next);
}

// Lines NAME=VALUE, set in an empty environment: setenv looks through all that is there.
PROGRAM(environment) {
  char **before = environ, *none = NULL;
  struct part text = {data, size};
  environ = &none;
  while (text.size > 0) {
    struct part line = take_until(&text, "\n"), name = take_until(&line, "=");
    char *key = text_of(name.data, name.size), *value = text_of(line.data, line.size);
    if (key && value && *key) setenv(key, value, 1);
    free(key);
    free(value);
  }
  clearenv();
  environ = before;
}

// The length of what is left, for each byte.
PROGRAM(strlen_each) {
  char *text = text_of(data, size);
  uint64_t sum = 0;
  for (size_t i = 0; text && i < size; ++i) sum += strlen(text + i);
  kept = sum;
  free(text);
}

// Looks behind each "<" for the "-->" that is not there.
PROGRAM(strstr_each) {
  char *text = text_of(data, size);
  uint64_t found = 0;
  for (char *at = text; at && (at = strchr(at, '<')); ++at) found += strstr(at, "-->") != NULL;
  kept = found;
  free(text);
}

PROGRAM(memmem_each) {
  uint64_t found = 0;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '[') found += memmem(data + i, size - i, "](", 2) != NULL;
  }
  kept = found;
}

// Each quote looks for its end.
PROGRAM(strchr_each) {
  char *text = text_of(data, size);
  uint64_t found = 0;
  for (size_t i = 0; text && i < size; ++i) {
    if (text[i] == '\'') found += strchr(text + i, '"') != NULL;
  }
  kept = found;
  free(text);
}

// One search through all: the library needs a time that is linear.
PROGRAM(memmem_once) {
  size_t quarter = size / 4;
  kept = memmem(data + quarter, size - quarter, data, quarter) != NULL;
}

// Words are joined by strcat, which looks for the end each time.
PROGRAM(strcat_each) {
  struct part text = {data, size};
  char *joined = calloc(size + 1, 1);
  while (joined && text.size > 0) {
    struct part word = take_until(&text, " ");
    strncat(joined, (const char *)word.data, word.size);
  }
  kept = joined ? joined[size / 2] : 0;
  free(joined);
}

// A new word moves all others.
PROGRAM(moved_for_each) {
  uint8_t *row = malloc(size * 16 + 16);
  size_t used = 0;
  for (size_t i = 0; row && i < size; ++i, used += 16) {
    memmove(row + 16, row, used);
    memset(row, data[i], 16);
  }
  kept = row ? row[used / 2] : 0;
  free(row);
}

static int by_bytes(const void *a, const void *b) { return memcmp(a, b, KEY); }

PROGRAM(qsort_keys) {
  uint8_t *keys = malloc(size + 1);
  if (!keys) return;
  memcpy(keys, data, size);
  qsort(keys, size / KEY, KEY, by_bytes);
  kept = keys[size / 2];
  free(keys);
}

// The comparison is what is slow: it counts up to the key.
static int by_counting(const void *a, const void *b) {
  uint64_t state = 1;
  for (int i = 0; i < 50; ++i) state = stir(state + i);
  kept = state;
  return memcmp(a, b, KEY);
}

PROGRAM(qsort_slow) {
  uint8_t *keys = malloc(size + 1);
  if (!keys) return;
  memcpy(keys, data, size);
  qsort(keys, size / KEY, KEY, by_counting);
  kept = keys[size / 2];
  free(keys);
}

// A block that grows by one for each byte, and a small one behind it, so that it cannot grow where it is.
PROGRAM(grown_by_one) {
  char *text = NULL;
  void **others = malloc((size + 1) * sizeof *others);
  for (size_t i = 0; others && i < size; ++i) {
    char *larger = realloc(text, i + 1);
    if (!larger) break;
    text = larger;
    text[i] = (char)data[i];
    others[i] = malloc(8);
  }
  kept = text ? (uint8_t)text[size / 2] : 0;
  for (size_t i = 0; others && i < size; ++i) free(others[i]);
  free(others);
  free(text);
}
