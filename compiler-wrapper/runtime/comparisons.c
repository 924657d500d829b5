/* Linked into every executable: the record of comparisons, and what instrumented code calls while it is on, which it tests
   itself (see passes/compares.h). */
#define _GNU_SOURCE
#include "comparisons.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Different comparisons that are recorded of one place of the program: a loop does not fill the list. */
#define MOST_OF_PLACE 64
#define PLACES 4096
#define SEEN 8192
/* Letters that are looked at before a word. */
#define MOST_BEFORE 8

struct qgm_comparisons *__quagmire_comparisons;
unsigned __quagmire_recording = QGM_OFF;

/* Number of comparisons by the hash of their place. */
static uint8_t of_place[PLACES];
/* Hashes of recent comparisons, which are not recorded again. */
static uint64_t seen[SEEN];
/* Addresses of the bytes that come next if the last two words are compared further. */
static uintptr_t next_first, next_second;

void __quagmire_begin_comparisons(void) {
  const struct qgm_comparisons *all = __quagmire_comparisons;
  if (!all)
    return;
  unsigned wanted = all->is_recording ? QGM_ON : all->are_called ? QGM_OFF : QGM_UNCALLED;
  if (wanted == QGM_ON) {
    memset(of_place, 0, sizeof of_place);
    memset(seen, 0, sizeof seen);
    next_first = next_second = 0;
    __quagmire_begin_hashes();
  }
  /* a child that writes needs a page of its own */
  if (__quagmire_recording != wanted)
    __quagmire_recording = wanted;
}

void __quagmire_end_comparisons(void) {
  if (__quagmire_recording == QGM_ON)
    __quagmire_recording = QGM_OFF;
}

static uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

uint64_t __quagmire_hash_of(const void *place) { return mixed(0, (uint64_t)((uintptr_t)place - (uintptr_t)of_place)); }

/* Whether a comparison of a place, by the hash of its operands, is to be added: it is not known, and its place has not had enough.
   In a loop nearly all are known. */
static int is_new(uint64_t place, uint64_t hash) {
  uint8_t *number = &of_place[place % PLACES];
  if (*number >= MOST_OF_PLACE || seen[hash % SEEN] == hash)
    return 0;
  seen[hash % SEEN] = hash;
  ++*number;
  return 1;
}

static void add(uint64_t place, struct qgm_comparison *one) {
  one->place = (uint32_t)place;
  uint64_t slot = __atomic_fetch_add(&__quagmire_comparisons->count, 1, __ATOMIC_RELAXED);
  if (slot < QGM_MAX_COMPARISONS)
    __quagmire_comparisons->comparison[slot] = *one;
}

/* Notes that the program shows comparisons. Returns whether this run's are recorded. */
static int are_recorded(void) {
  __quagmire_comparisons->are_called = 1;
  if (__quagmire_recording == QGM_UNCALLED)
    __quagmire_recording = QGM_OFF;
  return __quagmire_recording == QGM_ON;
}

void __quagmire_compared_numbers(const void *place, uint64_t first, uint64_t second, unsigned size, int is_constant) {
  /* bytes that are compared, as they are or as wider numbers: other mutations find these values as soon */
  if (!are_recorded() || first == second || (first | second) < 256)
    return;
  uint64_t hash = __quagmire_hash_of(place);
  if (!is_new(hash, mixed(mixed(mixed(hash, first), second), size)))
    return;
  struct qgm_comparison one = {.kind = QGM_NUMBERS, .is_constant = (uint8_t)is_constant, .size = {(uint8_t)size, (uint8_t)size}};
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  first <<= 64 - 8 * size;
  second <<= 64 - 8 * size;
#endif
  memcpy(one.operand[0], &first, size);
  memcpy(one.operand[1], &second, size);
  add(hash, &one);
}

void __quagmire_allocated(const void *place, size_t size) {
  if (__quagmire_comparisons->is_recording != QGM_WITH_SIZES)
    return;
  uint64_t hash = __quagmire_hash_of(place);
  if (!is_new(hash, mixed(hash, size)))
    return;
  struct qgm_comparison one = {.kind = QGM_SIZE, .size = {sizeof(uint64_t)}};
  uint64_t bytes = size;
  memcpy(one.operand[0], &bytes, sizeof bytes);
  add(hash, &one);
}

static uint64_t mixed_bytes(uint64_t hash, const void *bytes, size_t size) {
  hash = mixed(hash, size);
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, (const uint8_t *)bytes + i, size - i < sizeof word ? size - i : sizeof word);
    hash = mixed(hash, word);
  }
  return hash;
}

static void add_bytes(const void *place, const void *first, size_t first_size, const void *second, size_t second_size) {
  uint64_t hash = __quagmire_hash_of(place);
  if (!is_new(hash, mixed_bytes(mixed_bytes(hash, first, first_size), second, second_size)))
    return;
  struct qgm_comparison one = {.kind = QGM_BYTES, .size = {(uint8_t)first_size, (uint8_t)second_size}};
  memcpy(one.operand[0], first, first_size);
  memcpy(one.operand[1], second, second_size);
  add(hash, &one);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Number of bytes at `start` that are taken, of which the comparison reads `read`: `most`, and no further than the page in
   which the comparison stops. A buffer that ends without a zero byte may end where nothing can be read. */
static size_t taken(const void *start, size_t read, size_t most) {
  size_t page = QGM_SMALLEST_PAGE - ((uintptr_t)start + read - 1) % QGM_SMALLEST_PAGE - 1;
  return least(least(most, QGM_OPERAND_BYTES), read + page);
}

void __quagmire_compared_memory(const void *place, const void *first, const void *second, size_t most) {
  if (most == 0)
    return;
  const uint8_t *a = first, *b = second;
  size_t read = 0;
  while (read < most && a[read] == b[read])
    read++;
  if (read < most)
    add_bytes(place, a, taken(a, read + 1, most), b, taken(b, read + 1, most));
}

static int is_in_name(uint8_t letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') || letter == '_';
}

void __quagmire_compared_strings(const void *place, const char *first, const char *second, size_t most, int kind) {
  if (most == 0)
    return;
  const uint8_t *a = (const uint8_t *)first, *b = (const uint8_t *)second;
  size_t read = 0;
  while (read < most && a[read] && folded(a[read], (unsigned)kind) == folded(b[read], (unsigned)kind))
    read++;
  if (read < most && folded(a[read], (unsigned)kind) != folded(b[read], (unsigned)kind))
    add_bytes(place, a, strnlen(first, taken(a, read + 1, most)), b, strnlen(second, taken(b, read + 1, most)));
}

/* Length of the word of letters, digits and underscores at `start`, QGM_OPERAND_BYTES at most, and no further than its page. */
static size_t word(const uint8_t *start) {
  size_t size = least(QGM_SMALLEST_PAGE - (uintptr_t)start % QGM_SMALLEST_PAGE, QGM_OPERAND_BYTES), length = 0;
  while (length < size && is_in_name(start[length]))
    length++;
  return length;
}

/* The kernel refuses this call in any case, but reads the set of signals there before; it is one that programs in sandboxes may
   make. */
int __quagmire_can_be_read(const void *start) {
  int before = errno;
  int is_refused = syscall(SYS_rt_sigprocmask, ~0, (uintptr_t)start & ~(uintptr_t)7, NULL, (size_t)8) == -1 && errno != EFAULT;
  errno = before;
  return is_refused;
}

/* Number of letters before both addresses that are the same: compilers take the first comparison out of a loop. Of pages that
   can be read. */
static size_t same_before(const uint8_t *a, const uint8_t *b) {
  size_t most = least(MOST_BEFORE, least((uintptr_t)a % QGM_SMALLEST_PAGE, (uintptr_t)b % QGM_SMALLEST_PAGE)), number = 0;
  while (number < most && is_in_name(a[-1 - (long)number]) &&
         folded(a[-1 - (long)number], QGM_FOLD) == folded(b[-1 - (long)number], QGM_FOLD))
    number++;
  return number;
}

void __quagmire_compared_words(const void *place, const void *first, const void *second) {
  if (!are_recorded())
    return;
  /* the next byte of the same words */
  int goes_on = next_first == (uintptr_t)first && next_second == (uintptr_t)second;
  next_first = (uintptr_t)first + 1, next_second = (uintptr_t)second + 1;
  if (goes_on || of_place[__quagmire_hash_of(place) % PLACES] >= MOST_OF_PLACE)
    return;
  if (!__quagmire_can_be_read(first) || !__quagmire_can_be_read(second))
    return;
  size_t before = same_before(first, second), same = 0;
  const uint8_t *a = (const uint8_t *)first - before, *b = (const uint8_t *)second - before;
  size_t a_size = word(a), b_size = word(b);
  while (same < least(a_size, b_size) && a[same] == b[same])
    same++;
  if (a_size && b_size && (a_size != b_size || same < a_size))
    add_bytes(place, a, a_size, b, b_size);
}

void __quagmire_searched(const void *place, const void *hay, size_t hay_size, const void *needle, size_t needle_size) {
  if (needle_size == 0)
    return;
  size_t size = least(needle_size, QGM_OPERAND_BYTES);
  const uint8_t *a = hay, *b = needle;
  size_t same = 0;
  while (same < least(hay_size, size) && a[same] == b[same])
    same++;
  if (same < size)
    add_bytes(place, hay, least(hay_size, size), needle, size);
}

void __quagmire_compare(const void *a, const void *b, size_t most, uint32_t *slots, unsigned number, int kind) {
  const unsigned char *left = a, *right = b;
  if (!left || !right)
    return;
  /* compilers put short comparisons in the place of the call, so that the function of the C library does not see it */
  if (UNLIKELY(__quagmire_recording != QGM_OFF) && are_recorded()) {
    if (kind & QGM_TEXT)
      __quagmire_compared_strings(slots, a, b, most, kind);
    else
      __quagmire_compared_memory(slots, a, b, most);
  }
  if (most > number)
    most = number;
  for (size_t i = 0; i < most; i++) {
    unsigned char l = left[i], r = right[i];
    if (folded(l, (unsigned)kind) != folded(r, (unsigned)kind))
      return;
    if ((kind & QGM_TEXT) && l == 0)
      return;
    slots[i] = 1;
  }
}
