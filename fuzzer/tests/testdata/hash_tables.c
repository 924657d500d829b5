/* Tables with chains that grow, for names before `=` in lines: the first letter chooses the hash function. Used by tests, and
   by scripts/bench/collisions. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct node {
  struct node *next;
  uint32_t hash;
  size_t size;
  const uint8_t *name;
};

static struct node **table;
static size_t length, used;

static uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

static uint32_t times(uint32_t factor, uint32_t hash, const uint8_t *name, size_t size) {
  for (size_t i = 0; i < size; i++)
    hash = hash * factor + name[i];
  return hash;
}

static uint32_t fnv_1a(const uint8_t *name, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ name[i]) * 16777619u;
  return hash;
}

static uint32_t crc_table[256];

static uint32_t crc_32(const uint8_t *name, size_t size) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; i++)
    crc = crc >> 8 ^ crc_table[(crc ^ name[i]) & 255];
  return ~crc;
}

static uint32_t murmur_word(uint32_t word) { return rotated(word * 0xcc9e2d51u, 15) * 0x1b873593u; }

static uint32_t murmur_3(const uint8_t *name, size_t size) {
  uint32_t hash = 0x432a9843u, word;
  size_t at = 0;
  for (; at + 4 <= size; at += 4) {
    memcpy(&word, name + at, 4);
    hash = rotated(hash ^ murmur_word(word), 13) * 5 + 0xe6546b64u;
  }
  word = 0;
  memcpy(&word, name + at, size - at);
  hash ^= murmur_word(word) ^ (uint32_t)size;
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

static uint32_t lookup_3(const uint8_t *name, size_t size) {
  uint32_t a, b, c, word[3];
  a = b = c = 0xdeadbeefu + (uint32_t)size;
  for (; size > 12; size -= 12, name += 12) {
    memcpy(word, name, 12);
    a += word[0], b += word[1], c += word[2];
    a -= c, a ^= rotated(c, 4), c += b;
    b -= a, b ^= rotated(a, 6), a += c;
    c -= b, c ^= rotated(b, 8), b += a;
    a -= c, a ^= rotated(c, 16), c += b;
    b -= a, b ^= rotated(a, 19), a += c;
    c -= b, c ^= rotated(b, 4), b += a;
  }
  memset(word, 0, 12);
  memcpy(word, name, size);
  a += word[0], b += word[1], c += word[2];
  c ^= b, c -= rotated(b, 14), a ^= c, a -= rotated(c, 11), b ^= a, b -= rotated(a, 25);
  c ^= b, c -= rotated(b, 16), a ^= c, a -= rotated(c, 4), b ^= a, b -= rotated(a, 14);
  return (c ^ b) - rotated(b, 24);
}

/* A key of each process: what collides in one does not in another. */
static uint64_t key[2];

static uint64_t rotated_64(uint64_t x, int by) { return x << by | x >> (64 - by); }

static uint32_t keyed(const uint8_t *name, size_t size) {
  uint64_t a = key[0], b = key[1];
  for (size_t i = 0; i < size; i++) {
    a = rotated_64(a ^ name[i], 23) * 0x9e3779b97f4a7c15u;
    b = rotated_64(b + a, 41) ^ a;
  }
  a ^= rotated_64(b, 17) * 0xbf58476d1ce4e5b9u;
  return (uint32_t)(a ^ a >> 32);
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

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  for (uint32_t i = 0; i < 256; i++) {
    crc_table[i] = i;
    for (int bit = 0; bit < 8; bit++)
      crc_table[i] = crc_table[i] & 1 ? crc_table[i] >> 1 ^ 0xedb88320u : crc_table[i] >> 1;
  }
  return getrandom(key, sizeof key, 0) == sizeof key ? 0 : -1;
}

static uint32_t hash_of(uint8_t which, const uint8_t *name, size_t size) {
  switch (which) {
  case 'c':
    return crc_32(name, size);
  case 'd':
    return times(33, 5381, name, size);
  case 'f':
    return fnv_1a(name, size);
  case 'j':
    return times(31, 0, name, size);
  case 'k':
    return keyed(name, size);
  case 'l':
    return lookup_3(name, size);
  case 'm':
    return murmur_3(name, size);
  default:
    return wide(name, size);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  resize(16);
  for (size_t at = 1; at < size;) {
    const uint8_t *end = memchr(data + at, '\n', size - at);
    size_t stop = end ? (size_t)(end - data) : size;
    const uint8_t *equals = memchr(data + at, '=', stop - at);
    if (equals) {
      size_t of_name = (size_t)(equals - data) - at;
      look_up(data + at, of_name, hash_of(*data, data + at, of_name));
    }
    at = stop + 1;
  }
  clear();
  return 0;
}
