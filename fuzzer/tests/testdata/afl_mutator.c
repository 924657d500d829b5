/* A custom mutator of AFL++ that keeps texts behind a sum of their bytes whole. With a name for it, it does something else
   besides. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int *nowhere;

static unsigned char sum(const unsigned char *text, size_t size) {
  unsigned char all = 0;
  for (size_t i = 0; i < size; i++) all += text[i];
  return all;
}

/* Writes a text with one byte more, if there is room. */
static size_t longer(unsigned char *out, const unsigned char *bytes, size_t size, unsigned char last, size_t max_size) {
  if (size >= max_size) return 0;
  memcpy(out, bytes, size);
  out[size] = last;
  out[0] = sum(out + 1, size);
  return size + 1;
}

#ifndef REFUSES
#define REFUSES 0
#endif

struct mutator {
  unsigned char out[1 << 16];
  unsigned calls;
};

struct mutator *afl_custom_init(void *state, unsigned seed) {
  srand(seed);
  /* some look into afl-fuzz's state */
  if (REFUSES || ((unsigned char *)state)[1 << 20]) return NULL;
  return calloc(1, sizeof(struct mutator));
}

#if !defined POST_ONLY && !defined HAVOC
size_t afl_custom_fuzz(struct mutator *mutator, unsigned char *bytes, size_t size, unsigned char **out, unsigned char *other,
                       size_t other_size, size_t max_size) {
#ifdef ENDS
  if (++mutator->calls == 100) ENDS;
#endif
  if (!other_size) return 0;
  *out = mutator->out;
  return longer(mutator->out, bytes, size, other[rand() % other_size], max_size);
}
#elif defined HAVOC
size_t afl_custom_havoc_mutation(struct mutator *mutator, unsigned char *bytes, size_t size, unsigned char **out, size_t max_size) {
  *out = mutator->out;
  return longer(mutator->out, bytes, size, bytes[rand() % size], max_size);
}
#else
size_t afl_custom_post_process(struct mutator *mutator, unsigned char *bytes, size_t size, unsigned char **out) {
  if (size) bytes[0] = sum(bytes + 1, size - 1);
  *out = bytes;
  return size;
}
#endif

#ifdef TRANSLATES
size_t afl_custom_post_process(struct mutator *mutator, unsigned char *bytes, size_t size, unsigned char **out) {
  mutator->out[0] = '!';
  memcpy(mutator->out + 1, bytes, size);
  *out = mutator->out;
  return size + 1;
}
#endif

unsigned char afl_custom_queue_get(struct mutator *mutator, const char *file) {
  FILE *entry = fopen(file, "r");
  if (!entry) abort();
  fclose(entry);
#ifdef OFF
  return 0;
#else
  return 1;
#endif
}

/* Notes entries in the file TOLD. */
unsigned char afl_custom_queue_new_entry(struct mutator *mutator, const char *file, const char *parent) {
  FILE *told = fopen(getenv("TOLD"), "a");
  if (!told) abort();
  fprintf(told, "%s from %s\n", strrchr(file, '/') + 1, strrchr(parent, '/') + 1);
  fclose(told);
  return 0;
}
