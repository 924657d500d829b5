/* Tables with chains that grow, for names before `=` in lines: the first letter chooses the hash function. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next;
  uint32_t hash;
  size_t size;
  const uint8_t *name;
};

static struct node **table;
static size_t length, used;

static uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

static uint32_t times_33(const uint8_t *name, size_t size) {
  uint32_t hash = 5381;
  for (size_t i = 0; i < size; i++)
    hash = hash * 33 + name[i];
  return hash;
}

static uint32_t fnv(const uint8_t *name, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ name[i]) * 16777619u;
  return hash;
}

/* A state of 96 bits, of which 32 come out. */
static uint32_t wide(const uint8_t *name, size_t size) {
  uint32_t a = 1, b = 2, c = (uint32_t)size;
  for (size_t i = 0; i < size; i++) {
    a += name[i];
    a -= c, a ^= rotated(c, 4), c += b;
    b -= a, b ^= rotated(a, 6), a += c;
    c -= b, c ^= rotated(b, 8), b += a;
  }
  return c ^ rotated(b, 14) ^ rotated(a, 11);
}

static void resize(size_t to) {
  struct node **all = calloc(to, sizeof *all);
  for (size_t i = 0; i < length; i++)
    for (struct node *one = table[i], *next; one; one = next) {
      next = one->next;
      one->next = all[one->hash & (to - 1)];
      all[one->hash & (to - 1)] = one;
    }
  free(table);
  table = all;
  length = to;
}

static void look_up(const uint8_t *name, size_t size, uint32_t hash) {
  for (struct node *one = table[hash & (length - 1)]; one; one = one->next)
    if (one->hash == hash && one->size == size && memcmp(one->name, name, size) == 0)
      return;
  if (used++ == length)
    resize(2 * length);
  struct node *new = malloc(sizeof *new);
  *new = (struct node){table[hash & (length - 1)], hash, size, name};
  table[hash & (length - 1)] = new;
}

static void clear(void) {
  for (size_t i = 0; i < length; i++)
    for (struct node *one = table[i], *next; one; one = next) {
      next = one->next;
      free(one);
    }
  free(table);
  table = NULL;
  length = used = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  resize(16);
  uint8_t which = *data;
  for (size_t at = 1; at < size;) {
    const uint8_t *end = memchr(data + at, '\n', size - at);
    size_t stop = end ? (size_t)(end - data) : size;
    const uint8_t *equals = memchr(data + at, '=', stop - at);
    if (equals) {
      size_t of_name = (size_t)(equals - data) - at;
      uint32_t hash = which == 'd' ? times_33(data + at, of_name) : which == 'f' ? fnv(data + at, of_name) : wide(data + at, of_name);
      look_up(data + at, of_name, hash);
    }
    at = stop + 1;
  }
  clear();
  return 0;
}
