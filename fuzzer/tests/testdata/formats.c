// Recognisers of small formats: 0 for an input of the format, -1 for any other. FORMAT chooses one of JSON (without numbers that
// have exponents), INI, LISP, ARITHMETIC and XML (elements from a set of names, which have to match).
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { JSON, INI, LISP, ARITHMETIC, XML };

#ifndef FORMAT
#define FORMAT JSON
#endif

enum { DEEPEST = 200 };

static const uint8_t *at, *end;
static int depth;

static int peek(void) { return at < end ? *at : -1; }
static int take(int c) { return peek() == c ? (at++, 1) : 0; }
static int word(const char *text) {
  size_t length = strlen(text);
  if ((size_t)(end - at) < length || memcmp(at, text, length) != 0) return 0;
  at += length;
  return 1;
}
static void blanks(void) {
  while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') at++;
}
static int digits(void) {
  const uint8_t *start = at;
  while (isdigit(peek())) at++;
  return at > start;
}
static int name(void) {
  if (!isalpha(peek()) && peek() != '_') return 0;
  while (isalnum(peek()) || peek() == '_') at++;
  return 1;
}

static int string(void) {
  if (!take('"')) return 0;
  while (at < end && *at != '"') {
    if (*at < 32) return 0;
    if (*at++ == '\\' && (at == end || !strchr("\"\\/bfnrt", *at++))) return 0;
  }
  return take('"');
}

static int json(void) {
  int ok = 0;
  if (++depth > DEEPEST) return 0;
  blanks();
  if (take('{')) {
    blanks();
    ok = take('}');
    while (!ok) {
      blanks();
      if (!string()) return 0;
      blanks();
      if (!take(':') || !json()) return 0;
      if (take('}')) ok = 1;
      else if (!take(',')) return 0;
    }
  } else if (take('[')) {
    blanks();
    ok = take(']');
    while (!ok) {
      if (!json()) return 0;
      if (take(']')) ok = 1;
      else if (!take(',')) return 0;
    }
  } else if (peek() == '"') {
    ok = string();
  } else if (peek() == '-' || isdigit(peek())) {
    take('-');
    ok = take('0') || digits();
    if (ok && take('.')) ok = digits();
  } else {
    ok = word("true") || word("false") || word("null");
  }
  blanks();
  depth--;
  return ok;
}

// Sections in square brackets, `key = value` with a value up to the end of the line, comments, empty lines.
static int ini(void) {
  while (at < end) {
    while (peek() == ' ') at++;
    if (take(';')) {
      while (at < end && *at != '\n') at++;
    } else if (take('[')) {
      if (!name()) return 0;
      while (take('.')) {
        if (!name()) return 0;
      }
      if (!take(']')) return 0;
    } else if (peek() != '\n' && at < end) {
      if (!name()) return 0;
      while (peek() == ' ') at++;
      if (!take('=')) return 0;
      while (at < end && *at != '\n') {
        if (*at < 32) return 0;
        at++;
      }
    }
    if (at < end && !take('\n')) return 0;
  }
  return 1;
}

static int lisp(void) {
  if (++depth > DEEPEST) return 0;
  blanks();
  take('\'');
  if (take('(')) {
    for (blanks(); !take(')'); blanks()) {
      if (!lisp()) return 0;
    }
  } else if (peek() == '"') {
    if (!string()) return 0;
  } else {
    const uint8_t *start = at;
    while (isalnum(peek()) || (peek() > 0 && strchr("+-*/<>=!?_", peek()))) at++;
    if (at == start) return 0;
  }
  blanks();
  depth--;
  return 1;
}

static int sum(void);

static int factor(void) {
  blanks();
  if (take('-')) return factor();
  if (take('(')) {
    if (!sum() || !take(')')) return 0;
  } else if (name()) {
    blanks();
    if (take('(')) {
      do {
        if (!sum()) return 0;
      } while (take(','));
      if (!take(')')) return 0;
    }
  } else if (!digits()) {
    return 0;
  } else if (take('.') && !digits()) {
    return 0;
  }
  blanks();
  return 1;
}

static int sum(void) {
  if (++depth > DEEPEST) return 0;
  do {
    if (!factor()) return 0;
  } while (take('+') || take('-') || take('*') || take('/') || take('^'));
  depth--;
  return 1;
}

static int element(void) {
  static const char *const names[] = {"book", "title", "item", "b", "p"};
  const char *found = NULL;
  if (++depth > DEEPEST || !take('<')) return 0;
  for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) {
    const uint8_t *start = at;
    if (word(names[i]) && !isalnum(peek())) found = names[i];
    else at = start;
  }
  if (!found) return 0;
  for (blanks(); name(); blanks()) {
    if (!take('=') || !take('"')) return 0;
    while (at < end && *at != '"' && *at != '<' && *at != '&') at++;
    if (!take('"')) return 0;
  }
  if (!word("/>")) {
    if (!take('>')) return 0;
    while (!word("</")) {
      if (peek() == '<') {
        if (!element()) return 0;
      } else if (at == end || *at == '>' || *at == '&') {
        return 0;
      } else {
        at++;
      }
    }
    if (!word(found) || !take('>')) return 0;
  }
  depth--;
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int (*const formats[])(void) = {json, ini, lisp, sum, element};
  at = data;
  end = data + size;
  depth = 0;
  return formats[FORMAT]() && at == end ? 0 : -1;
}
