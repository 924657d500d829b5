// Curves that mislead: terms that rule far away, large starts, caps, thresholds, much memory for little work. See README.md.
#include "laws.h"

static uint64_t work(uint64_t state, uint64_t steps) {
  for (uint64_t i = 0; i < steps; ++i) state = stir(state + i);
  return state;
}

static size_t count_of(const uint8_t *data, size_t size, uint8_t wanted) {
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) count += data[i] == wanted;
  return count;
}

// A cubic term that would rule far beyond any input.
PROGRAM(far_cubic) {
  uint64_t state = 1;
  size_t n = count_of(data, size, 'a');
  state = work(state, n * n * 1000);
  kept = work(state, n * n * n / 100);
}

// A quadratic term that needs 100,000 units to rule over the linear one.
PROGRAM(far_quadratic) {
  size_t n = count_of(data, size, 'a');
  kept = work(work(1, n * 2000), n * n / 50);
}

// Tables of 100,000 steps are made for each run, whatever the input is.
PROGRAM(large_start) { kept = work(work(1, 100000), size); }

// The same once for all, and a quadratic part that is seen from some hundreds of bytes on.
PROGRAM(start_and_pairs) {
  size_t n = count_of(data, size, 'a');
  kept = work(work(1, 100000), n * n);
}

// Only "x" costs; all else is skipped.
PROGRAM(one_of_two) {
  uint64_t state = 1;
  size_t crosses = 0;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == 'x') state = work(state, crosses++);
  }
  kept = state;
}

// All "a" with all "b".
PROGRAM(product) {
  kept = work(1, count_of(data, size, 'a') * count_of(data, size, 'b'));
}

// Pairs of the first 300, then twenty steps for each.
PROGRAM(cap_then_linear) {
  uint64_t state = 1;
  size_t n = 0;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == 'a') state = work(state, n < 300 ? n++ : 20);
  }
  kept = state;
}

// Looks at the first 300 only, and the harness refuses more than 5,000.
PARSER(cap_and_refusal) {
  if (size > 5000) return -1;
  size_t n = count_of(data, size, 'a');
  kept = work(1, n < 300 ? n * n : 90000);
  return 0;
}

// Harnesses refuse what is too large.
PARSER(refused_pairs) {
  if (size > 2000) return -1;
  size_t n = count_of(data, size, 'a');
  kept = work(1, n * n);
  return 0;
}

PARSER(refused_triples) {
  if (size < 20 || size > 400) return -1;
  size_t n = count_of(data, size, 'a');
  kept = work(1, n * n * n / 6);
  return 0;
}

// Cheap up to 200, pairs of what is beyond.
PROGRAM(beyond_200) {
  size_t n = count_of(data, size, 'a'), beyond = n > 200 ? n - 200 : 0;
  kept = work(work(1, n * 5), beyond * beyond / 8);
}

// Another way of sorting from 64 on: linear in place of quadratic.
PROGRAM(better_from_64) {
  size_t n = count_of(data, size, 'a');
  kept = work(1, n < 64 ? n * n : n * 64);
}

// Up to 4,096 bytes at once; larger inputs by blocks, each of which costs the same.
PROGRAM(blocks) {
  uint64_t state = 1;
  for (size_t at = 0; at < size; at += 4096) {
    size_t n = size - at < 4096 ? size - at : 4096;
    state = work(state + data[at], n * n / 64);
  }
  kept = state;
}

// Bits of the number of bytes, for each byte.
PROGRAM(log_factor) {
  uint64_t state = 1;
  for (size_t i = 0; i < size; ++i) {
    for (size_t left = i; left > 0; left = left * 9 / 10) state = stir(state + data[i]);
  }
  kept = state;
}

static size_t root_of(size_t n) {
  size_t root = 0;
  while ((root + 1) * (root + 1) <= n) ++root;
  return root;
}

PROGRAM(one_and_a_half) {
  size_t n = count_of(data, size, 'a');
  kept = work(1, n * root_of(n));
}

PROGRAM(two_and_a_half) {
  size_t n = count_of(data, size, 'a');
  kept = work(1, n * n * root_of(n) / 10);
}

PROGRAM(square_log) {
  size_t n = count_of(data, size, 'a'), bits = 0;
  for (size_t left = n * 1024; left > 0; left = left * 9 / 10) ++bits;
  kept = work(1, n * n * bits / 64);
}

// A twentieth more for each: exponential, with a base so small that it looks like a power for long.
PROGRAM(twentieth_more) {
  uint64_t steps = 1000;
  for (size_t n = count_of(data, size, 'a'); n > 0 && steps < 1ull << 40; --n) steps += steps / 20;
  kept = work(1, steps);
}

// Three times as much for each.
PROGRAM(three_times) {
  uint64_t steps = 10;
  for (size_t n = count_of(data, size, 'a'); n > 0 && steps < 1ull << 40; --n) steps *= 3;
  kept = work(1, steps);
}

// A table that stays from run to run is filled by the first, and cleared then.
PROGRAM(first_run_only) {
  static uint64_t table[4096];
  static int ready;
  if (!ready) {
    for (size_t i = 0; i < 4096; ++i) table[i] = work(i, 1000);
    ready = 1;
  }
  uint64_t state = 1;
  for (size_t i = 0; i < size; ++i) state = stir(state + table[data[i] * 16]);
  kept = state;
}

// Names of all runs so far are looked through, up to 64 of them; each run adds one.
PROGRAM(state_of_runs) {
  static size_t runs;
  size_t n = count_of(data, size, 'a');
  if (runs < 64) ++runs;
  kept = work(1, n * n + runs * n);
}

// Linear, where small inputs cost next to nothing: quadratic up to 40.
PROGRAM(steep_at_first) {
  uint64_t state = 1;
  for (size_t i = 0; i < size; ++i) state = work(state + data[i], i < 40 ? i * 3 : 120);
  kept = state;
}

// Cost by what bytes are, not by their number: 20 different ones cost more than all else.
PROGRAM(by_value) {
  uint8_t seen[256] = {0};
  uint64_t state = 1;
  for (size_t i = 0; i < size && i < 4096; ++i) {
    if (!seen[data[i]]) state = work(state, 20000);
    seen[data[i]] = 1;
  }
  kept = state;
}

// One magic word is slow, however much is around it.
PROGRAM(magic_word) {
  uint64_t state = 1;
  for (size_t i = 0; i + 4 <= size && i < 64; ++i) {
    if (same_bytes(data + i, (const uint8_t *)"slow", 4)) state = work(state, 500000);
  }
  kept = state;
}

// Memory for pairs, and a step for each unit.
PROGRAM(heap_pairs) {
  size_t n = count_of(data, size, 'a'), bytes = n * n + 1;
  volatile uint8_t *block = malloc(bytes);
  if (block) block[n] = (uint8_t)n, block[bytes / 2] = 1;
  kept = block ? block[bytes / 2] : 0;
  free((void *)block);
}

// Blocks that are given back at once: much in total, little at a time.
PROGRAM(blocks_of_all) {
  size_t n = count_of(data, size, 'a');
  for (size_t i = 0; i < n; ++i) {
    volatile uint8_t *block = malloc(64 * i + 1);
    if (block) block[0] = data[i];
    free((void *)block);
  }
}

// Each level has room for as many bytes as it is deep.
__attribute__((noinline)) static uint64_t level(size_t depth, size_t n) {
  volatile uint8_t room[16 * n + 1];
  room[0] = (uint8_t)depth;
  return n < depth ? level(depth, n + 1) + room[0] : room[0];
}

PROGRAM(stack_pairs) {
  size_t n = count_of(data, size, '(');
  kept = level(n, 0);
}

// A number of the input says how much is done: two bytes, and no more than they can say.
PROGRAM(width_and_height) {
  if (size < 6) return;
  kept = work(1, big_endian(data + 2, 2) * big_endian(data + 4, 2) / 4 + size);
}

// Returns after the first error: all else costs nothing.
PARSER(until_error) {
  struct part text = {data, size};
  size_t units = 0;
  while (text.size > 0) {
    struct part unit = take_until(&text, ",");
    if (unit.size != 4) break;
    ++units;
  }
  kept = work(1, units * units);
  return text.size > 0 ? -1 : 0;
}

// The harness takes a byte of options from the front and the end, and cuts what is too long.
PROGRAM(cut_at_1500) {
  if (size < 3 || data[0] > 'z' || !(data[size - 1] & 1)) return;
  size_t n = count_of(data + 1, size - 2 < 1500 ? size - 2 : 1500, 'a');
  kept = work(1, n * n);
}
