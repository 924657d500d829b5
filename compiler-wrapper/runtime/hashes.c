/* Linked into every executable: the record of numbers that are made of bytes, which instrumented code calls while comparisons
   are recorded (see passes/hashed.h). */
#define _GNU_SOURCE
#include "comparisons.h"

#include <string.h>

/* The bytes of the last loop, as they were when it began: later it may have freed them. */
static uint8_t bytes[QGM_HASHED_BYTES];
static uint8_t size;

void __quagmire_begin_hashes(void) { size = 0; }

/* Hashes are no comparisons: programs that show nothing else are not searched for these. */
static int is_on(void) { return __quagmire_comparisons && __quagmire_recording == QGM_ON; }

static struct qgm_hash *next(void) {
  uint64_t slot = __atomic_fetch_add(&__quagmire_comparisons->hash_count, 1, __ATOMIC_RELAXED);
  return slot < QGM_MAX_HASHES ? &__quagmire_comparisons->hash[slot] : NULL;
}

/* Number of bytes at `start` that can be read, up to what is recorded. */
static size_t length_at(const uint8_t *start) {
  size_t rest = QGM_SMALLEST_PAGE - (uintptr_t)start % QGM_SMALLEST_PAGE;
  if (!__quagmire_can_be_read(start))
    return 0;
  return rest >= QGM_HASHED_BYTES || __quagmire_can_be_read(start + rest) ? QGM_HASHED_BYTES : rest;
}

void __quagmire_hash_begins(const void *start) {
  if (__quagmire_comparisons)
    __quagmire_comparisons->are_hashed = 1;
  if (!is_on())
    return;
  /* not memcpy: a sanitizer's would report what is behind a short key */
  const volatile uint8_t *from = start;
  size = 0;
  size_t length = length_at(start);
  for (size_t i = 0; i < length; i++)
    bytes[i] = from[i];
  size = (uint8_t)length;
}

void __quagmire_hashed(const void *place, uint64_t value, int is_final) {
  if (!is_on() || !size)
    return;
  uint32_t from = (uint32_t)__quagmire_hash_of(place);
  uint64_t wanted = __quagmire_comparisons->hash_place;
  struct qgm_hash *hash = wanted == 0 || wanted == from ? next() : NULL;
  if (!hash)
    return;
  *hash = (struct qgm_hash){
      .value = value,
      .place = from,
      .kind = is_final ? QGM_FINAL : QGM_STATE,
      .size = size,
  };
  memcpy(hash->bytes, bytes, hash->size);
}

void __quagmire_reduced(uint64_t dividend, uint64_t divisor) {
  struct qgm_hash *hash = is_on() ? next() : NULL;
  if (!hash)
    return;
  *hash = (struct qgm_hash){.value = dividend, .kind = QGM_REDUCED, .size = sizeof divisor};
  memcpy(hash->bytes, &divisor, sizeof divisor);
}
