// Looks for attribute-list declarations, and says how deep into one the text gets. Every byte of a keyword is a branch
// of its own: a switch, a loop or memcmp would show a fuzzer less. See README.md.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Calls that stay calls: one edge for each level, whatever the optimiser does to the branches.
static volatile unsigned levels_reached;
__attribute__((noinline)) static void level_one(void) { levels_reached |= 1; }
__attribute__((noinline)) static void level_two(void) { levels_reached |= 2; }
__attribute__((noinline)) static void level_three(void) { levels_reached |= 4; }

// Each parser below gets the rest of the text, which a zero byte ends, and returns what follows the thing that it looks
// for, or NULL. A byte is read only if those before it matched: the branches cannot be merged into one comparison.

static const char *skip_blanks(const char *at) {
  if (*at != ' ' && *at != '\t' && *at != '\n' && *at != '\r') return NULL;
  while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') ++at;
  return at;
}

static const char *skip_name(const char *at) {
  const char *start = at;
  while ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' || *at == ':') ++at;
  return at > start ? at : NULL;
}

static const char *skip_start(const char *at) {
  if (at[0] == '<')
    if (at[1] == '!')
      if (at[2] == 'A')
        if (at[3] == 'T')
          if (at[4] == 'T')
            if (at[5] == 'L')
              if (at[6] == 'I')
                if (at[7] == 'S')
                  if (at[8] == 'T') return at + 9;
  return NULL;
}

static const char *skip_id(const char *at) { // ID, IDREF, IDREFS
  if (at[0] == 'I')
    if (at[1] == 'D') {
      if (at[2] == 'R')
        if (at[3] == 'E')
          if (at[4] == 'F') {
            if (at[5] == 'S') return at + 6;
            return at + 5;
          }
      return at + 2;
    }
  return NULL;
}

static const char *skip_entity(const char *at) { // ENTITY, ENTITIES
  if (at[0] == 'E')
    if (at[1] == 'N')
      if (at[2] == 'T')
        if (at[3] == 'I')
          if (at[4] == 'T') {
            if (at[5] == 'Y') return at + 6;
            if (at[5] == 'I')
              if (at[6] == 'E')
                if (at[7] == 'S') return at + 8;
          }
  return NULL;
}

static const char *skip_nmtoken(const char *at) { // NMTOKEN, NMTOKENS
  if (at[0] == 'N')
    if (at[1] == 'M')
      if (at[2] == 'T')
        if (at[3] == 'O')
          if (at[4] == 'K')
            if (at[5] == 'E')
              if (at[6] == 'N') {
                if (at[7] == 'S') return at + 8;
                return at + 7;
              }
  return NULL;
}

static const char *skip_type(const char *at) {
  if (at[0] == 'C') {
    if (at[1] == 'D')
      if (at[2] == 'A')
        if (at[3] == 'T')
          if (at[4] == 'A') return at + 5;
    return NULL;
  }
  const char *end = skip_id(at);
  if (!end) end = skip_entity(at);
  if (!end) end = skip_nmtoken(at);
  return end;
}

static const char *skip_default(const char *at) {
  if (at[0] != '#') return NULL;
  if (at[1] == 'R') {
    if (at[2] == 'E')
      if (at[3] == 'Q')
        if (at[4] == 'U')
          if (at[5] == 'I')
            if (at[6] == 'R')
              if (at[7] == 'E')
                if (at[8] == 'D') return at + 9;
  } else if (at[1] == 'I') {
    if (at[2] == 'M')
      if (at[3] == 'P')
        if (at[4] == 'L')
          if (at[5] == 'I')
            if (at[6] == 'E')
              if (at[7] == 'D') return at + 8;
  } else if (at[1] == 'F') {
    if (at[2] == 'I')
      if (at[3] == 'X')
        if (at[4] == 'E')
          if (at[5] == 'D') return at + 6;
  }
  return NULL;
}

// How much of a declaration is at `at`: 0 none, 1 its keyword, 2 also names and a type, 3 also a default.
static size_t declaration_at(const char *at) {
  if (!(at = skip_start(at))) return 0;
  level_one();
  if (!(at = skip_blanks(at)) || !(at = skip_name(at))) return 1; // the element
  if (!(at = skip_blanks(at)) || !(at = skip_name(at))) return 1; // its attribute
  if (!(at = skip_blanks(at)) || !(at = skip_type(at))) return 1;
  level_two();
  if (!(at = skip_blanks(at)) || !(at = skip_default(at))) return 2;
  level_three();
  return 3;
}

// The deepest level that any declaration of the text reaches. The text ends at a zero byte.
static size_t deepest_level(const uint8_t *bytes, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, bytes, size);
  text[size] = '\0';
  size_t deepest = 0;
  for (const char *at = text; *at; ++at) {
    size_t level = declaration_at(at);
    if (level > deepest) deepest = level;
  }
  free(text);
  return deepest;
}
