// The first byte says where memory goes; only that place is there if ONLY is it.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept[500];
static void *volatile scratch;
static volatile unsigned sink;

struct input {
  const uint8_t *data;
  size_t size, at;
};

// 'H': work that has nothing to do with memory, a block that is larger than all others, and then 500 steps that each ask for
// three bits of a byte and keep a small one.
static void hold(const struct input *in) {
  unsigned sum = 0;
  for (size_t i = 0; i < in->size && i < 100; i++)
    for (size_t j = 0; j < in->size && j < 100; j++)
      sum = sum * 31 + (in->data[i] ^ in->data[j]);
  sink = sum;
  scratch = malloc(1 << 20);
  free((void *)scratch);
  size_t steps = 0;
  while (steps < 500 && steps < in->size && ((in->data[steps] ^ (steps * 37 + 11)) & 7) == 0)
    kept[steps++] = malloc(64);
  while (steps)
    free((void *)kept[--steps]);
}

// 'D': two functions that call each other, as deep as three bits of each byte say, behind a frame that is deeper than a hundred of theirs.
static int descend(struct input *in, unsigned key);

__attribute__((noinline)) static int one(struct input *in, unsigned key) {
  volatile char frame[48];
  frame[0] = 1;
  if (in->at >= in->size)
    return -1;
  uint8_t c = in->data[in->at++] & 7;
  if (c == (key & 7))
    return descend(in, key * 37 + 11) + frame[0];
  return c == 7 ? 1 : -1;
}

__attribute__((noinline)) static int descend(struct input *in, unsigned key) {
  volatile int sum = 0;
  for (int i = 0; i < 3; i++) {
    int value = one(in, key);
    if (value < 0)
      break;
    sum += value;
  }
  return sum;
}

__attribute__((noinline)) static unsigned prepare(const struct input *in) {
  char copy[32768];
  size_t size = in->size < sizeof copy ? in->size : sizeof copy - 1;
  memcpy(copy, in->data, size);
  copy[size] = 0;
  return (unsigned)strlen(copy);
}

// 'N': a record of a number, and as many items of 24 bytes and one more.
static void number(const uint8_t *data, size_t size) {
  if (size < 4)
    return;
  size_t items = (size_t)data[0] << 24 | data[1] << 16 | data[2] << 8 | data[3];
  scratch = items > 100000 ? NULL : malloc(items * 24 + 8);
  free((void *)scratch);
}

// 'P': a table of all pairs of names, which nobody fills.
static void pairs(const uint8_t *data, size_t size) {
  size_t names = 0;
  for (size_t i = 1; i < size; i++)
    names += data[i] == ',' && data[i - 1] == '#';
  scratch = malloc(names * names);
  free((void *)scratch);
}

// 'L': lists that nest.
__attribute__((noinline)) static int list(struct input *in) {
  volatile int items = 0;
  while (in->at < in->size && in->data[in->at++] == '(')
    items += list(in);
  return items + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2)
    return 0;
#ifdef ONLY
  if (data[0] != ONLY)
    return 0;
#endif
  struct input in = {data + 1, size - 1, 0};
  switch (data[0]) {
  case 'H':
    hold(&in);
    break;
  case 'D':
    sink = prepare(&in);
    sink += (unsigned)one(&in, 1);
    break;
  case 'N':
    number(in.data, in.size);
    break;
  case 'P':
    pairs(in.data, in.size);
    break;
  case 'L':
    sink = (unsigned)list(&in);
    break;
  }
  return 0;
}
