// Names and words: what is compared with each other, and tables with weak hashes. See README.md.
#include "laws.h"

static struct part *parts_for(size_t count) { return malloc((count + 1) * sizeof(struct part)); }

// NAME=VALUE; pairs: a name is kept if it is new.
PROGRAM(settings) {
  struct part *names = parts_for(size), text = {data, size};
  size_t count = 0;
  while (names && text.size > 0) {
    struct part pair = take_until(&text, ";"), name = take_until(&pair, "=");
    if (find_part(names, count, name) == count) names[count++] = name;
  }
  kept = count;
  free(names);
}

// The same with room for 512 names: more are looked for, and not kept.
PROGRAM(settings_of_512) {
  struct part names[512], text = {data, size};
  size_t count = 0;
  while (text.size > 0) {
    struct part pair = take_until(&text, ";"), name = take_until(&pair, "=");
    if (find_part(names, count, name) == count && count < 512) names[count++] = name;
  }
  kept = count;
}

// Ends with an error when 512 names are known.
PROGRAM(settings_until_512) {
  struct part names[512], text = {data, size};
  size_t count = 0;
  while (text.size > 0 && count < 512) {
    struct part pair = take_until(&text, ";"), name = take_until(&pair, "=");
    if (find_part(names, count, name) == count) names[count++] = name;
  }
  kept = count;
}

// Names of a catalogue: the sum of the letters is a multiple of seven. The first that is none ends it all.
PARSER(catalogue) {
  struct part *names = parts_for(size), text = {data, size};
  size_t count = 0;
  int valid = names != NULL;
  while (valid && text.size > 0) {
    struct part name = take_until(&text, "\n");
    uint32_t sum = 0;
    for (size_t i = 0; i < name.size; ++i) sum += name.data[i];
    valid = sum % 7 == 0;
    if (valid && find_part(names, count, name) == count) names[count++] = name;
  }
  kept = count;
  free(names);
  return valid ? 0 : -1;
}

struct word {
  struct word *next;
  struct part text;
};

enum { WORDS = 4096 };

// Words between blanks in a table whose hash is given.
static void count_words(const uint8_t *data, size_t size, uint32_t (*hash)(struct part)) {
  struct word **table = calloc(WORDS, sizeof *table), *words = malloc((size + 1) * sizeof *words);
  struct part text = {data, size};
  size_t count = 0;
  while (table && words && text.size > 0) {
    struct part word = take_until(&text, " \n");
    struct word **at = &table[hash(word) % WORDS];
    while (*at && !same_parts((*at)->text, word)) at = &(*at)->next;
    if (*at) continue;
    words[count] = (struct word){NULL, word};
    *at = &words[count++];
  }
  kept = count;
  free(words);
  free(table);
}

static uint32_t by_first_letters(struct part word) {
  uint32_t hash = 0;
  for (size_t i = 0; i < word.size && i < 4; ++i) hash = hash * 31 + word.data[i];
  return hash;
}

static uint32_t by_sum(struct part word) {
  uint32_t hash = 0;
  for (size_t i = 0; i < word.size; ++i) hash += word.data[i];
  return hash;
}

// As old Java did it: every second letter of what is long.
static uint32_t by_some_letters(struct part word) {
  uint32_t hash = 0;
  for (size_t i = 0; i < word.size; i += word.size / 8 + (word.size < 8)) hash = hash * 37 + word.data[i];
  return hash;
}

static uint32_t by_length(struct part word) { return (uint32_t)word.size; }

static uint32_t by_all(struct part word) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < word.size; ++i) hash = (hash ^ word.data[i]) * 1099511628211u;
  return (uint32_t)(hash >> 32);
}

PROGRAM(hash_of_first) { count_words(data, size, by_first_letters); }

PROGRAM(hash_of_sum) { count_words(data, size, by_sum); }

PROGRAM(hash_of_some) { count_words(data, size, by_some_letters); }

PROGRAM(hash_of_length) { count_words(data, size, by_length); }

PROGRAM(hash_of_all) { count_words(data, size, by_all); }

static int earlier(struct part a, struct part b) {
  for (size_t i = 0; i < a.size && i < b.size; ++i) {
    if (a.data[i] != b.data[i]) return a.data[i] < b.data[i];
  }
  return a.size < b.size;
}

// Lines are kept in order by moving the later ones.
PROGRAM(lines_in_order) {
  struct part *lines = parts_for(size), text = {data, size};
  size_t count = 0;
  while (lines && text.size > 0) {
    struct part line = take_until(&text, "\n");
    size_t at = count++;
    for (; at > 0 && earlier(line, lines[at - 1]); --at) lines[at] = lines[at - 1];
    lines[at] = line;
  }
  kept = count;
  free(lines);
}

// "use NAME" looks through all that "let NAME" made, the last one first.
PROGRAM(scopes) {
  struct part *known = parts_for(size), text = {data, size};
  size_t count = 0;
  uint64_t found = 0;
  while (known && text.size > 0) {
    struct part line = take_until(&text, "\n"), word = take_until(&line, " ");
    if (word.size == 3 && same_bytes(word.data, (const uint8_t *)"let", 3)) known[count++] = line;
    if (word.size != 3 || !same_bytes(word.data, (const uint8_t *)"use", 3)) continue;
    for (size_t at = count; at-- > 0;) {
      if (!same_parts(known[at], line)) continue;
      found += at;
      break;
    }
  }
  kept = found;
  free(known);
}

// Edges "a b;" of a graph: those that a name leads to are looked for in all edges, each name once: components, one by one.
PROGRAM(reached) {
  struct part *from = parts_for(size), *to = parts_for(size), text = {data, size};
  uint8_t *seen = calloc(size + 1, 1);
  size_t count = 0;
  while (from && to && text.size > 0) {
    struct part edge = take_until(&text, ";");
    from[count] = take_until(&edge, " "), to[count++] = edge;
  }
  int grew = seen && count > 0;
  if (grew) seen[0] = 1;
  while (grew) {
    grew = 0;
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; seen[i] && j < count; ++j) {
        if (!seen[j] && same_parts(to[i], from[j])) seen[j] = 1, grew = 1;
      }
      if (seen[i]) seen[i] = 2;
    }
  }
  kept = count;
  free(from);
  free(to);
  free(seen);
}
