/* The record of comparisons (comparisons.c), which the engine turns on for one run of an entry. */
#pragma once

#include "quagmire.h"

/* Where comparisons are recorded; null if nobody reads them. */
extern struct qgm_comparisons *__quagmire_comparisons QGM_HIDDEN;

/* State of the recording. */
enum qgm_recording {
  QGM_OFF = 0,
  QGM_ON = 1,
  QGM_UNCALLED = 2, /* off in a run that somebody reads, and no comparison was seen yet */
};

/* The only thing that callbacks and instrumented code look at in ordinary runs: whether it is QGM_OFF. Exported, and read
   directly by the runtime, which runs before addresses of other objects are known. */
extern unsigned __quagmire_recording __attribute__((visibility("protected")));

#define UNLIKELY(condition) __builtin_expect(condition, 0)

/* A letter as it is compared: in lower case with QGM_FOLD. */
static inline uint8_t folded(uint8_t letter, unsigned kind) {
  return (kind & QGM_FOLD) && letter >= 'A' && letter <= 'Z' ? (uint8_t)(letter + 32) : letter;
}

/* Turns recording on for the run that begins, or off, as the engine has asked. */
QGM_HIDDEN void __quagmire_begin_comparisons(void);

/* Turns recording off after a run: what the engine compares in the same process is not the target's. Threads of the target that
   go on are not recorded either. */
QGM_HIDDEN void __quagmire_end_comparisons(void);

/* Records a comparison that the code at `place` makes, if recording is on. Called by callbacks and by code that the pass has
   instrumented, if `__quagmire_recording` is not QGM_OFF. */
void __quagmire_compared_numbers(const void *place, uint64_t first, uint64_t second, unsigned size, int is_constant);
/* Two words at these addresses, which the code is about to compare byte by byte. */
void __quagmire_compared_words(const void *place, const void *first, const void *second);
/* Called by instrumented code before memcmp and its like, with `number` 0 only if recording is not QGM_OFF: records what they compare,
   and sets slots[k] for every k below `number` and the length of what `a` and `b` have in common at their start, looking at
   `most` bytes at most. With `number` 0, `slots` only tells comparisons apart. Reads no byte that the comparison itself would
   not read. */
void __quagmire_compare(const void *a, const void *b, size_t most, uint32_t *slots, unsigned number, int kind);

/* Where the bytes begin that the next numbers are made of; a number that is made of them, the state of a loop or what is used
   of it; a number that is divided, for the remainder. Called by instrumented code, if `__quagmire_recording` is not QGM_OFF. */
void __quagmire_hash_begins(const void *start);
void __quagmire_hashed(const void *place, uint64_t value, int is_final);
void __quagmire_reduced(uint64_t dividend, uint64_t divisor);

/* Forgets what an earlier run has hashed. */
QGM_HIDDEN void __quagmire_begin_hashes(void);

/* Whether the page of an address can be read: a loop that is entered need not read anything. */
QGM_HIDDEN int __quagmire_can_be_read(const void *start);

/* Hash of a place: the distance is the same wherever the program is mapped. */
QGM_HIDDEN uint64_t __quagmire_hash_of(const void *place);

/* Record what functions of the C library compare, and what they allocate. To be called if recording is QGM_ON. */
QGM_HIDDEN void __quagmire_allocated(const void *place, size_t size);
QGM_HIDDEN void __quagmire_compared_memory(const void *place, const void *first, const void *second, size_t most);
/* `kind`: QGM_FOLD or 0. */
QGM_HIDDEN void __quagmire_compared_strings(const void *place, const char *first, const char *second, size_t most, int kind);
/* A search for `needle` in `hay`: as if the beginning of the hay was compared with it. */
QGM_HIDDEN void __quagmire_searched(const void *place, const void *hay, size_t hay_size, const void *needle, size_t needle_size);
