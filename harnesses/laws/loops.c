// Loops of each kind. See README.md.
#include "laws.h"

PROGRAM(header_only) {
  uint64_t state = 1;
  for (size_t i = 0; i < 12 && i < size; ++i) state = stir(state + data[i]);
  kept = state;
}

PROGRAM(each_byte) {
  uint64_t state = 1;
  for (size_t i = 0; i < size; ++i) state = stir(state + data[i]);
  kept = state;
}

// The compiler handles several bytes at once, and the rest one by one.
PROGRAM(vector_sum) {
  uint32_t sum = 0;
  for (size_t i = 0; i < size; ++i) sum += data[i];
  kept = sum;
}

PROGRAM(pairs) {
  uint64_t state = 1;
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < i; ++j) state = stir(state + (data[i] ^ data[j]));
  }
  kept = state;
}

PROGRAM(triples) {
  uint64_t state = 1;
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < i; ++j) {
      for (size_t k = 0; k < j; ++k) state = stir(state + (data[i] ^ data[j] ^ data[k]));
    }
  }
  kept = state;
}

PROGRAM(halving) {
  uint64_t state = size > 0 ? data[0] : 0;
  for (size_t left = size; left > 0; left /= 2) {
    for (int i = 0; i < 50; ++i) state = stir(state + left);
  }
  kept = state;
}

// The whole part of the logarithm for each byte.
PROGRAM(halving_for_each) {
  uint64_t state = 1;
  for (size_t i = 0; i < size; ++i) {
    for (size_t left = size; left > 0; left /= 2) state = stir(state + data[i]);
  }
  kept = state;
}

PROGRAM(multiples) {
  uint64_t state = 1;
  for (size_t i = 1; i <= size; ++i) {
    for (size_t j = i; j <= size; j += i) state = stir(state + data[j - 1]);
  }
  kept = state;
}

PROGRAM(trial_division) {
  uint64_t state = size > 0 ? data[0] : 0;
  for (size_t i = 1; i * i <= size; ++i) state = stir(state + size % i);
  kept = state;
}

// For each byte as many steps as a side of the square of all of them.
PROGRAM(side_for_each) {
  size_t side = 1;
  while (side * side < size) ++side;
  uint64_t state = 1;
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < side; ++j) state = stir(state + data[i]);
  }
  kept = state;
}

// Much work for each byte, and for each 256th a look at all bytes in front of it.
PROGRAM(hidden_pairs) {
  uint64_t state = 1;
  for (size_t i = 0; i < size; ++i) {
    for (int round = 0; round < 100; ++round) state = stir(state + data[i]);
    for (size_t j = 0; i % 256 == 255 && j < i; ++j) state = stir(state + data[j]);
  }
  kept = state;
}

// A window, as compressors have it: pairs up to its size, a constant for each byte after it.
PROGRAM(window) {
  uint64_t state = 1;
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = i > 300 ? i - 300 : 0; j < i; ++j) state = stir(state + (data[i] ^ data[j]));
  }
  kept = state;
}

// Looks at pairs among the first 400 bytes only.
PROGRAM(capped_pairs) { pairs(data, size < 400 ? size : 400); }
