/* Linked into every executable: the record of numbers that are made of bytes, which instrumented code calls while comparisons
   are recorded (see passes/hashed.h). */
#define _GNU_SOURCE
#include "comparisons.h"

#include <string.h>

/* Pages that could be read in this run. */
#define PAGES 256

/* Where the bytes of the last loop begin. */
static const uint8_t *bytes;
static uintptr_t readable[PAGES];

void __quagmire_begin_hashes(void) {
  bytes = NULL;
  memset(readable, 0, sizeof readable);
}

/* Hashes are no comparisons: programs that show nothing else are not searched for these. */
static int is_on(void) { return __quagmire_comparisons && __quagmire_recording == QGM_ON; }

static struct qgm_hash *next(void) {
  uint64_t slot = __atomic_fetch_add(&__quagmire_comparisons->hash_count, 1, __ATOMIC_RELAXED);
  return slot < QGM_MAX_HASHES ? &__quagmire_comparisons->hash[slot] : NULL;
}

void __quagmire_hash_begins(const void *start) {
  if (__quagmire_comparisons)
    __quagmire_comparisons->are_hashed = 1;
  if (is_on())
    bytes = start;
}

/* Number of bytes at `start` that can be read, up to what is recorded: no further than its page, whose neighbour may be none. */
static size_t length_at(const uint8_t *start) {
  uintptr_t page = (uintptr_t)start / QGM_SMALLEST_PAGE;
  if (readable[page % PAGES] != page && !__quagmire_can_be_read(start))
    return 0;
  readable[page % PAGES] = page;
  size_t rest = QGM_SMALLEST_PAGE - (uintptr_t)start % QGM_SMALLEST_PAGE;
  return rest < QGM_HASHED_BYTES ? rest : QGM_HASHED_BYTES;
}

void __quagmire_hashed(const void *place, uint64_t value, int is_final) {
  if (!is_on() || !bytes)
    return;
  struct qgm_hash *hash = next();
  if (!hash)
    return;
  *hash = (struct qgm_hash){
      .value = value,
      .place = (uint32_t)__quagmire_hash_of(place),
      .kind = is_final ? QGM_FINAL : QGM_STATE,
      .size = (uint8_t)length_at(bytes),
  };
  memcpy(hash->bytes, bytes, hash->size);
}

void __quagmire_reduced(uint64_t dividend, uint64_t divisor) {
  if (!is_on())
    return;
  struct qgm_hash *hash = next();
  if (!hash)
    return;
  *hash = (struct qgm_hash){.value = dividend, .kind = QGM_REDUCED, .size = sizeof divisor};
  memcpy(hash->bytes, &divisor, sizeof divisor);
}
