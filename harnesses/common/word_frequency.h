// Counts how often each word of a text occurs, in a hash table with chains. The including harness brings the hash.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 12289, LONGEST_WORD = 127 };

typedef uint32_t (*word_hash)(const char *word, size_t length);

struct entry {
  struct entry *next;    // in the chain of its bucket
  struct entry *earlier; // the entry created before this one, whatever its bucket
  uint32_t bucket;
  unsigned count;
  char word[];
};

// Empty between runs: count_words leaves it as it found it.
static struct entry *table[BUCKETS];

static bool is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Counts `word`, and makes an entry for it if it is new. False: memory ran out.
static bool count_word(const char *word, size_t length, word_hash hash, struct entry **newest) {
  uint32_t bucket = hash(word, length) % BUCKETS;
  struct entry **place = &table[bucket];
  for (; *place; place = &(*place)->next) {
    if (strcmp((*place)->word, word) == 0) {
      ++(*place)->count;
      return true;
    }
  }
  struct entry *added = malloc(sizeof *added + length + 1);
  if (!added) return false;
  added->next = NULL;
  added->earlier = *newest;
  added->bucket = bucket;
  added->count = 1;
  memcpy(added->word, word, length + 1);
  *place = *newest = added;
  return true;
}

// Empties the buckets that the entries are in, and no others.
static void clear_table(struct entry *newest) {
  while (newest) {
    struct entry *earlier = newest->earlier;
    table[newest->bucket] = NULL;
    free(newest);
    newest = earlier;
  }
}

static void count_words(const uint8_t *data, size_t size, word_hash hash) {
  struct entry *newest = NULL;
  for (size_t at = 0; at < size; ++at) {
    char word[LONGEST_WORD + 1];
    size_t length = 0;
    for (; at < size && !is_blank(data[at]); ++at) {
      if (length < LONGEST_WORD) word[length++] = (char)data[at];
    }
    word[length] = '\0';
    length = strlen(word); // a zero byte ends a word early
    if (length > 0 && !count_word(word, length, hash, &newest)) break;
  }
  clear_table(newest);
}
