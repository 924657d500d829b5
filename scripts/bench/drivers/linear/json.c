// Reads one JSON text and makes a tree of it, as parsers do; what follows is not read.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 512 };

struct value {
  struct value *next, *first; // in the same array or object, in this one
  char *text;                 // of a string or a number
  char kind;
};

struct reader {
  const uint8_t *at, *end;
  int depth;
};

static struct value *read_value(struct reader *from);

static void skip_space(struct reader *from) {
  while (from->at < from->end && (*from->at == ' ' || *from->at == '\t' || *from->at == '\n' || *from->at == '\r')) {
    ++from->at;
  }
}

static bool take(struct reader *from, uint8_t byte) {
  skip_space(from);
  if (from->at == from->end || *from->at != byte) return false;
  ++from->at;
  return true;
}

static struct value *new_value(char kind) {
  struct value *value = calloc(1, sizeof *value);
  if (value) value->kind = kind;
  return value;
}

static void free_values(struct value *value) {
  while (value) {
    struct value *next = value->next;
    free_values(value->first);
    free(value->text);
    free(value);
    value = next;
  }
}

static char *read_string(struct reader *from) {
  if (!take(from, '"')) return NULL;
  const uint8_t *end = from->at;
  while (end < from->end && *end != '"') end += *end == '\\' && end + 1 < from->end ? 2 : 1;
  if (end == from->end) return NULL;
  char *text = malloc((size_t)(end - from->at) + 1), *to = text;
  if (!text) return NULL;
  for (; from->at < end; ++from->at) {
    if (*from->at == '\\') ++from->at;
    *to++ = (char)*from->at;
  }
  *to = 0;
  from->at = end + 1;
  return text;
}

static bool read_members(struct reader *from, struct value *into, uint8_t end) {
  struct value **last = &into->first;
  if (take(from, end)) return true;
  do {
    char *name = NULL;
    if (end == '}') {
      name = read_string(from);
      if (!name || !take(from, ':')) return free(name), false;
    }
    free(name);
    struct value *member = read_value(from);
    if (!member) return false;
    *last = member;
    last = &member->next;
  } while (take(from, ','));
  return take(from, end);
}

static bool read_rest(struct reader *from, struct value *value) {
  if (value->kind == '{' || value->kind == '[') {
    ++from->at;
    if (++from->depth > DEEPEST) return false;
    bool is_read = read_members(from, value, value->kind == '{' ? '}' : ']');
    --from->depth;
    return is_read;
  }
  if (value->kind == '"') return (value->text = read_string(from)) != NULL;
  const uint8_t *start = from->at;
  while (from->at < from->end && (strchr("+-.", *from->at) || (*from->at >= '0' && *from->at <= '9') ||
                                  (*from->at >= 'a' && *from->at <= 'z') || *from->at == 'E')) {
    if (*from->at == 0) break;
    ++from->at;
  }
  if (from->at == start) return false;
  value->text = strndup((const char *)start, (size_t)(from->at - start));
  return value->text != NULL;
}

static struct value *read_value(struct reader *from) {
  skip_space(from);
  if (from->at == from->end) return NULL;
  struct value *value = new_value((char)*from->at);
  if (value && !read_rest(from, value)) {
    free_values(value);
    return NULL;
  }
  return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct reader from = {data, data + size, 0};
  free_values(read_value(&from));
  return 0;
}
