// Tables, trees and lists of keys of four bytes. See README.md.
#include "laws.h"

struct node {
  struct node *next, *less, *more;
  uint32_t key;
};

// Nodes come from one block. Returns NULL for more keys than memory.
static struct node *nodes_for(size_t count) { return calloc(count + 1, sizeof(struct node)); }

static int find_or_add(struct node **bucket, struct node *fresh) {
  for (struct node *node = *bucket; node; node = node->next) {
    if (node->key == fresh->key) return 0;
  }
  fresh->next = *bucket;
  *bucket = fresh;
  return 1;
}

static void fixed_table(const uint8_t *data, size_t size, size_t buckets, int looks_at_low_bits) {
  size_t count = size / KEY, different = 0;
  struct node *nodes = nodes_for(count);
  struct node **table = calloc(buckets, sizeof *table);
  for (size_t i = 0; nodes && table && i < count; ++i) {
    uint32_t key = key_at(data, i);
    nodes[i].key = key;
    different += find_or_add(&table[(looks_at_low_bits ? key : key >> 24) % buckets], &nodes[i]);
  }
  kept = different;
  free(table);
  free(nodes);
}

PROGRAM(fixed_buckets) { fixed_table(data, size, 64, 1); }

// Only the highest byte of a key chooses its bucket.
PROGRAM(colliding_keys) { fixed_table(data, size, 1021, 0); }

PROGRAM(growing_buckets) {
  size_t count = size / KEY, buckets = 16, different = 0;
  struct node *nodes = nodes_for(count);
  struct node **table = calloc(buckets, sizeof *table);
  for (size_t i = 0; nodes && table && i < count; ++i) {
    nodes[i].key = key_at(data, i);
    different += find_or_add(&table[nodes[i].key % buckets], &nodes[i]);
    if (different < buckets) continue;
    struct node **larger = calloc(buckets * 2, sizeof *larger);
    for (size_t b = 0; larger && b < buckets; ++b) {
      for (struct node *node = table[b], *next; node; node = next) {
        next = node->next;
        node->next = larger[node->key % (buckets * 2)];
        larger[node->key % (buckets * 2)] = node;
      }
    }
    free(table);
    table = larger;
    buckets *= 2;
  }
  kept = different;
  free(table);
  free(nodes);
}

PROGRAM(list_of_keys) { fixed_table(data, size, 1, 1); }

// A search tree that nothing balances.
PROGRAM(search_tree) {
  size_t count = size / KEY;
  struct node *nodes = nodes_for(count), *root = NULL;
  for (size_t i = 0; nodes && i < count; ++i) {
    nodes[i].key = key_at(data, i);
    struct node **at = &root;
    while (*at && (*at)->key != nodes[i].key) at = nodes[i].key < (*at)->key ? &(*at)->less : &(*at)->more;
    if (!*at) *at = &nodes[i];
  }
  kept = root ? root->key : 0;
  free(nodes);
}

// Words that end with a newline, in a trie with lists of children.
PROGRAM(trie) {
  struct node *nodes = nodes_for(size + 1), *at = nodes;
  size_t used = 1, words = 0;
  for (size_t i = 0; nodes && i < size; ++i) {
    if (data[i] == '\n') {
      at = nodes, ++words;
      continue;
    }
    struct node *child = at->less;
    while (child && child->key != data[i]) child = child->next;
    if (!child) {
      child = &nodes[used++];
      child->key = data[i], child->next = at->less, at->less = child;
    }
    at = child;
  }
  kept = words + used;
  free(nodes);
}

// Sets joined by pointing the root of one at the other: each key joins the set of the key before it. Roots are looked for
// from the first element.
PROGRAM(joined_sets) {
  size_t count = size / KEY, steps = 0;
  size_t *parent = malloc((count + 1) * sizeof *parent);
  if (!parent) return;
  for (size_t i = 0; i < count; ++i) {
    parent[i] = i;
    size_t root = 0;
    while (parent[root] != root) root = parent[root], ++steps;
    parent[root] = i;
  }
  kept = steps + (size > 0 ? data[0] : 0);
  free(parent);
}

// Definitions "dKKKK", then uses "uKKKK": each use looks through all definitions.
PROGRAM(definitions_and_uses) {
  size_t count = size / (KEY + 1), defined = 0;
  uint64_t found = 0;
  while (defined < count && data[defined * (KEY + 1)] == 'd') ++defined;
  for (size_t i = defined; i < count; ++i) {
    const uint8_t *use = data + i * (KEY + 1) + 1;
    for (size_t j = 0; j < defined; ++j) found += key_at(use, 0) == key_at(data + j * (KEY + 1) + 1, 0);
  }
  kept = found;
}
