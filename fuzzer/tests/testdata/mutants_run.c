/* A hash table and caches whose costs are known: an input is a letter and a number. It reads standard input, or the file that is
   named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 16384

struct entry {
  unsigned key;
  struct entry *next;
};

struct item {
  int number, is_known;
  long value;
};

static struct entry *buckets[BUCKETS];
static unsigned slots[BUCKETS];
static long links, memo[100];
static int last_number = -1;
static long last_value;
static volatile unsigned sink;

/* Different for each key below BUCKETS, as are its lowest 14 bits. */
static unsigned hash_of(unsigned key) { /* hash */
  unsigned hash = key * 2654435761u;
  return hash;
}

static unsigned mixed(const char *text) { /* loop */
  unsigned state = 5381;
  int letter;
  while ((letter = *text++))
    state = state * 33 + (unsigned)letter;
  return state;
}

static int number_of(const char *text) {
  int number = 0;
  while (*text >= '0' && *text <= '9')
    number = number * 10 + (*text++ - '0');
  return number;
}

static int hash_add(unsigned key) {
  struct entry **bucket = &buckets[hash_of(key) % BUCKETS], *one;
  for (one = *bucket; one; one = one->next) {
    links++;
    if (one->key == key)
      return 0;
  }
  one = malloc(sizeof *one);
  one->key = key;
  one->next = *bucket;
  *bucket = one;
  return 1;
}

/* Without end if two different keys have the hash 0. */
static void probe(unsigned key) {
  unsigned hash = hash_of(key), at = hash % BUCKETS;
  while (slots[at] && slots[at] != key)
    at = (at + (hash & 0xfffff)) % BUCKETS;
  slots[at] = key;
}

static long work(int number) {
  for (int i = 0; i < 100; i++)
    sink += (unsigned)number;
  return number * 2L;
}

static long value_of(struct item *of) {
  if (of->is_known) /* flag */
    return of->value;
  of->value = work(of->number);
  of->is_known = 1;
  return of->value;
}

static long same_as_before(int number) {
  if (number == last_number) /* key */
    return last_value;
  last_value = work(number);
  last_number = number;
  return last_value;
}

static long fibonacci(int n) {
  if (n < 2)
    return n;
  if (!memo[n]) /* memo */
    memo[n] = fibonacci(n - 1) + fibonacci(n - 2);
  return memo[n];
}

/* These are marks, and no caches. */
static void visit(struct item *all, int n) {
  if (n < 0 || all[n].is_known)
    return;
  all[n].is_known = 1;
  visit(all, n - 1);
  sink += (unsigned)work(n);
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
  struct item item = {3, 0, 0}, *many;
  char kind = 0, text[32] = "";
  long result = 0;
  if (!file || fscanf(file, "%c %31s", &kind, text) != 2)
    return 2;
  int n = number_of(text);
  switch (kind) {
  case 'h':
  case 'l':
    for (int i = 1; i <= n; i++)
      result += hash_add((unsigned)i);
    if (kind == 'l')
      result = links;
    break;
  case 'p':
    for (int i = 1; i <= n; i++)
      probe((unsigned)i);
    break;
  case 'f':
    for (int i = 0; i < n; i++)
      result += value_of(&item);
    break;
  case 'k':
    for (int i = 0; i < n; i++)
      result += same_as_before(7);
    break;
  case 'm':
    result = fibonacci(n % 100);
    break;
  case 't':
    result = mixed(text) != 0;
    break;
  case 'v':
    many = calloc((size_t)n + 1, sizeof *many);
    visit(many, n);
    free(many);
    break;
  default:
    return 3;
  }
  printf("%c %ld\n", kind, result);
  return 0;
}
