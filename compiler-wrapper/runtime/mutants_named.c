/* Linked into programs with mutants: the mutant that QUAGMIRE_MUTANT names.

   An ID is the same in each build of the same source with the same pass: the upper 48 bits of an FNV-1a hash, in hexadecimal
   digits, of the base name of the file, the name of the function in the source without arguments of templates, the line of
   the table, and which of several such lines in the function it is. Tabs are between them. Computed by
   `fuzzer/crates/mutants/src/table.rs` as well. */
#include "machine.h"

#include "mutants.h"
#include "objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 12

/* A part of the text of a table. */
struct text {
  const char *start;
  size_t length;
};

static int is_same(struct text a, struct text b) { return a.length == b.length && memcmp(a.start, b.start, a.length) == 0; }

/* Takes the next line from the text. */
static struct text next_line(struct text *rest) {
  const char *end = memchr(rest->start, '\n', rest->length);
  struct text line = {rest->start, end ? (size_t)(end - rest->start) : rest->length};
  size_t used = line.length + (end ? 1 : 0);
  rest->start += used;
  rest->length -= used;
  return line;
}

/* The name of a function in the source, from the first line of its text: `operator<` is one, `larger<int>` is `larger`. */
static struct text source_name(struct text line) {
  const char *tab = memchr(line.start, '\t', line.length);
  struct text name = {tab ? tab + 1 : line.start, tab ? line.length - (size_t)(tab + 1 - line.start) : 0};
  const char *angle = memchr(name.start, '<', name.length);
  if (angle && !(name.length >= 9 && memcmp(name.start, "operator<", 9) == 0))
    name.length = (size_t)(angle - name.start);
  return name;
}

static struct text base_name(struct text path) {
  for (size_t i = path.length; i > 0; i--)
    if (path.start[i - 1] == '/')
      return (struct text){path.start + i, path.length - i};
  return path;
}

static uint64_t id_of(struct text file, struct text name, struct text line, unsigned copy) {
  char number[16];
  uint64_t state = QGM_NO_HASH;
  struct text tab = {"\t", 1}, last = {number, (size_t)snprintf(number, sizeof number, "%u", copy)};
  struct text parts[] = {base_name(file), tab, name, tab, line, tab, last};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    state = __quagmire_hash_bytes(state, parts[i].start, parts[i].length);
  return state >> (64 - 4 * DIGITS);
}

/* Number of lines before this one that are the same, in the same file. */
static unsigned copies(struct text all, struct text file, struct text line) {
  unsigned found = 0;
  struct text in = {NULL, 0};
  for (struct text rest = all; rest.start != line.start && rest.length;) {
    struct text other = next_line(&rest);
    if (other.start == line.start)
      break;
    if (other.length && other.start[0] == '=')
      in = (struct text){other.start + 1, other.length - 1};
    else
      found += is_same(other, line) && is_same(in, file);
  }
  return found;
}

/* Selects the mutants of a function that have an ID. Returns how many there are. */
static unsigned select_in(const struct qgm_mutant_function *function, uint64_t id) {
  struct text rest = {function->texts, function->bytes}, file = {NULL, 0};
  struct text name = source_name(next_line(&rest));
  const struct text all = rest;
  unsigned number = 0, found = 0;
  while (rest.length) {
    struct text line = next_line(&rest);
    if (line.length && line.start[0] == '=') {
      file = (struct text){line.start + 1, line.length - 1};
      continue;
    }
    if (id_of(file, name, line, 1 + copies(all, file, line)) == id) {
      __quagmire_select_in(function, number);
      found++;
    }
    number++;
  }
  return found;
}

void __quagmire_select_named_mutant(void) {
  const char *named = getenv(QGM_MUTANT);
  if (!named)
    return;
  uint64_t id = 0;
  unsigned found = 0;
  if (strlen(named) == DIGITS && strspn(named, "0123456789abcdef") == DIGITS) {
    id = strtoull(named, NULL, 16);
    for (unsigned i = 0; i < __quagmire_mutant_objects_count; i++) {
      const struct qgm_mutants_object *object = &__quagmire_mutant_objects[i];
      for (const struct qgm_mutant_function *f = object->start; f != object->stop; f++)
        found += select_in(f, id);
    }
  }
  if (!found) {
    fprintf(stderr, "quagmire: " QGM_MUTANT "=%s: the program has no such mutant: take an ID of `quagmire mutants list`, or unset it\n",
            named);
    _exit(1);
  }
}
