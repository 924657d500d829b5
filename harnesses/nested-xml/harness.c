// A small recursive-descent parser of XML: well-formedness of elements, attributes, comments and references.
// See README.md for what makes it slow.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct slice {
  const uint8_t *start;
  size_t size;
};

struct parser {
  const uint8_t *at;
  const uint8_t *end;
};

struct attributes {
  struct slice *names;
  size_t count;
  size_t capacity;
};

static bool same(struct slice a, struct slice b) { return a.size == b.size && memcmp(a.start, b.start, a.size) == 0; }

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool is_name_start(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || c >= 0x80;
}

static bool is_name(uint8_t c) { return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

static bool accept(struct parser *p, const char *expected) {
  size_t size = strlen(expected);
  if ((size_t)(p->end - p->at) < size || memcmp(p->at, expected, size) != 0) return false;
  p->at += size;
  return true;
}

// Returns whether there was any.
static bool skip_blanks(struct parser *p) {
  const uint8_t *start = p->at;
  while (p->at < p->end && is_blank(*p->at)) ++p->at;
  return p->at > start;
}

// Skips up to and including `stop`.
static bool skip_past(struct parser *p, const char *stop) {
  while (p->at < p->end) {
    if (accept(p, stop)) return true;
    ++p->at;
  }
  return false;
}

static bool parse_name(struct parser *p, struct slice *name) {
  name->start = p->at;
  if (p->at < p->end && is_name_start(*p->at)) {
    while (p->at < p->end && is_name(*p->at)) ++p->at;
  }
  name->size = (size_t)(p->at - name->start);
  return name->size > 0;
}

// After '&': an entity's name or the number of a character.
static bool parse_reference(struct parser *p) {
  static const char *const entities[] = {"lt;", "gt;", "amp;", "quot;", "apos;"};
  if (accept(p, "#")) {
    size_t digits = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; ++p->at) ++digits;
    return digits > 0 && accept(p, ";");
  }
  for (size_t i = 0; i < sizeof entities / sizeof *entities; ++i) {
    if (accept(p, entities[i])) return true;
  }
  return false;
}

// Comments, processing instructions and the document type, which may stand around the root element.
static bool skip_misc(struct parser *p) {
  for (;;) {
    skip_blanks(p);
    if (accept(p, "<!--")) {
      if (!skip_past(p, "-->")) return false;
    } else if (accept(p, "<?")) {
      if (!skip_past(p, "?>")) return false;
    } else if (accept(p, "<!DOCTYPE")) {
      if (!skip_past(p, ">")) return false;
    } else {
      return true;
    }
  }
}

// Remembers `name`, unless the tag already has it: compared with each one before it, so quadratic in their number.
static bool add_attribute(struct attributes *attributes, struct slice name) {
  for (size_t i = 0; i < attributes->count; ++i) {
    if (same(attributes->names[i], name)) return false;
  }
  if (attributes->count == attributes->capacity) {
    size_t capacity = attributes->capacity ? 2 * attributes->capacity : 8;
    struct slice *grown = realloc(attributes->names, capacity * sizeof *grown);
    if (!grown) return false;
    attributes->names = grown;
    attributes->capacity = capacity;
  }
  attributes->names[attributes->count++] = name;
  return true;
}

static bool parse_attribute(struct parser *p, struct attributes *attributes) {
  struct slice name;
  if (!parse_name(p, &name) || !add_attribute(attributes, name)) return false;
  skip_blanks(p);
  if (!accept(p, "=")) return false;
  skip_blanks(p);
  if (p->at == p->end || (*p->at != '"' && *p->at != '\'')) return false;
  const uint8_t quote = *p->at++;
  while (p->at < p->end && *p->at != quote) {
    const uint8_t c = *p->at++;
    if (c == '<' || (c == '&' && !parse_reference(p))) return false;
  }
  if (p->at == p->end) return false;
  ++p->at;
  return true;
}

// Up to the end of an opening tag: '>' (*empty is false) or '/>' (*empty is true).
static bool parse_attributes(struct parser *p, bool *empty) {
  struct attributes attributes = {NULL, 0, 0};
  bool ok = true;
  *empty = false;
  for (;;) {
    bool blank = skip_blanks(p);
    if (accept(p, ">")) break;
    if ((*empty = accept(p, "/>"))) break;
    if (!blank || !parse_attribute(p, &attributes)) {
      ok = false;
      break;
    }
  }
  free(attributes.names);
  return ok;
}

// After '<'. Calls itself for each element inside, without a limit.
static bool parse_element(struct parser *p) {
  struct slice name, closing;
  bool empty;
  if (!parse_name(p, &name) || !parse_attributes(p, &empty)) return false;
  if (empty) return true;
  while (p->at < p->end) {
    if (accept(p, "</")) {
      if (!parse_name(p, &closing) || !same(name, closing)) return false;
      skip_blanks(p);
      return accept(p, ">");
    }
    if (accept(p, "<!--")) {
      if (!skip_past(p, "-->")) return false;
    } else if (accept(p, "<![CDATA[")) {
      if (!skip_past(p, "]]>")) return false;
    } else if (accept(p, "<?")) {
      if (!skip_past(p, "?>")) return false;
    } else if (accept(p, "<")) {
      if (!parse_element(p)) return false;
    } else if (*p->at++ == '&' && !parse_reference(p)) {
      return false;
    }
  }
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct parser parser = {data, data + size};
  volatile bool well_formed = skip_misc(&parser) && accept(&parser, "<") && parse_element(&parser) && skip_misc(&parser) &&
                              parser.at == parser.end;
  (void)well_formed;
  return 0;
}
