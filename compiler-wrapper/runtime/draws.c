/* Linked into every executable: the record of what a run draws from its input, by FuzzedDataProvider or quagmire/draws.h, and
   the overlay, which puts bytes where a draw is about to take them. */
#include "machine.h"

#include "draw_hooks.h"
#include "draws.h"
#include "objects.h"

#include <string.h>

/* A hash is made of so many bytes of a draw at most. */
#define HASHED_BYTES 4096

static void begin(const struct qgm_draw_call *call);
static void end(const uint8_t *front, size_t left, uint64_t value);
static void generated(const void *bytes, size_t size);

struct qgm_draw_hooks __quagmire_draw_hooks = {.begin = begin, .end = end, .generated = generated};
struct qgm_draws *__quagmire_draws;

/* State of the run that is on. */
static uintptr_t input, to_original;
static size_t input_size;
static int is_recording, is_generated;
static uint64_t count, items;
/* Items that draws have taken: a bit for each. */
static uint8_t taken[QGM_MAX_OVERLAY_ITEMS / 8];

/* The draw that is being made, if there is one. */
static struct qgm_draw *current;
static struct qgm_draw_call call_of_current;

/* Memory of linked objects that was looked up. */
static struct {
  uintptr_t start, end, base;
} known[8];
static unsigned next_known;
static uint64_t known_generation;

/* Replaced by the in-process engine and by the fork server. */
__attribute__((weak)) void __quagmire_begin_target(const void *frame) { (void)frame; }

void __quagmire_begin_draws(void) {
  const struct qgm_draws *draws = __quagmire_draws;
  if (!draws)
    return;
  items = draws->items < QGM_MAX_OVERLAY_ITEMS ? draws->items : QGM_MAX_OVERLAY_ITEMS;
  is_recording = draws->is_recording || items > 0;
  is_generated = 0;
  __quagmire_draws->count = count = 0;
  __quagmire_draws->generated = __quagmire_draws->generator_cycles = 0;
  current = NULL;
  if (is_recording)
    __quagmire_clear_parts();
  if (items > 0)
    memset(taken, 0, (items + 7) / 8);
  /* the first draw of all is told in any case */
  __quagmire_draw_hooks.are_wanted = is_recording || !draws->are_used;
}

void __quagmire_draw_from(const uint8_t *data, size_t size, const uint8_t *original) {
  input = (uintptr_t)data;
  to_original = (uintptr_t)original - input;
  input_size = size;
}

void __quagmire_end_draws(void) { __quagmire_draw_hooks.are_wanted = 0; }

static int note_object(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  uintptr_t address = *(const uintptr_t *)data;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    uintptr_t start = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && address >= start && address - start < segment->p_memsz) {
      unsigned place = next_known++ % (sizeof known / sizeof *known);
      known[place].start = start;
      known[place].end = start + segment->p_memsz;
      known[place].base = object->dlpi_addr;
      return 1;
    }
  }
  return 0;
}

/* The address relative to where its object is loaded. */
static uint64_t site_of(uintptr_t address) {
  if (known_generation != __quagmire_modules.generation) {
    /* objects may be where others have been */
    memset(known, 0, sizeof known);
    known_generation = __quagmire_modules.generation;
  }
  for (int is_known = 0; is_known < 2; is_known++) {
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
      if (address - known[i].start < known[i].end - known[i].start)
        return address - known[i].base;
    if (is_known || !dl_iterate_phdr(note_object, &address))
      break;
  }
  return address;
}

/* Whether bytes are in the input of the run. */
static int is_in_input(const uint8_t *front, size_t left) {
  uintptr_t start = (uintptr_t)front - input;
  return start <= input_size && left <= input_size - start;
}

/* The item with a key that was not taken yet, or null. */
static const struct qgm_overlay_item *item_of(uint64_t key) {
  const struct qgm_overlay_item *item = __quagmire_draws->item;
  size_t low = 0, high = items;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (item[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == items || item[low].key != key || taken[low / 8] & 1 << low % 8)
    return NULL;
  taken[low / 8] |= (uint8_t)(1 << low % 8);
  return item + low;
}

/* How many of these bytes a text of at most `most` characters takes. */
static size_t text_length(const uint8_t *bytes, size_t length, uint64_t most) {
  size_t at = 0;
  for (uint64_t characters = 0; characters < most && at < length; characters++)
    if (bytes[at++] == '\\' && at < length && bytes[at++] != '\\')
      break;
  return at;
}

/* Puts the bytes of the overlay where the draw will take them, if there are any for it. Returns whether it did. */
static int lay_over(const struct qgm_draw_call *call, uint64_t key) {
  const struct qgm_overlay_item *item = item_of(key);
  if (!item || item->length > call->left || item->start > QGM_OVERLAY_BYTES ||
      item->length > QGM_OVERLAY_BYTES - item->start)
    return 0;
  const uint8_t *bytes = __quagmire_draws->overlay + item->start;
  size_t length = item->length;
  uint8_t *to = (uint8_t *)(uintptr_t)call->front;
  switch (call->kind) {
  case QGM_DRAW_TEXT:
    length = text_length(bytes, length, call->range);
    break;
  case QGM_DRAW_BYTES:
    length = length < call->range ? length : (size_t)call->range;
    break;
  case QGM_DRAW_REST:
    break;
  default:
    if (length != call->takes)
      return 0;
    to += call->left - length;
  }
  memcpy(to, bytes, length);
  if (to_original)
    memcpy((void *)((uintptr_t)to + to_original), bytes, length);
  return length > 0;
}

static void begin(const struct qgm_draw_call *call) {
  /* only the thread that makes the run has it */
  if (!__quagmire_draws || !__quagmire_lowest_stack)
    return;
  current = NULL;
  __quagmire_draws->are_used = 1;
  if (!is_recording) {
    __quagmire_draw_hooks.are_wanted = 0;
    return;
  }
  __quagmire_draws->count = ++count;
  if (count > QGM_MAX_DRAWS)
    return;
  int is_named = call->kind == QGM_DRAW_OPEN;
  current = __quagmire_draws->draw + count - 1;
  *current = (struct qgm_draw){
      .site = is_named ? call->range : site_of((uintptr_t)call->site),
      .range = is_named ? 0 : call->range,
      .kind = (uint8_t)call->kind,
  };
  __quagmire_place_draw(__quagmire_draws->draw, (uint32_t)count - 1, (uintptr_t)call->frame);
  call_of_current = *call;
  if (items > 0 && is_in_input(call->front, call->left))
    current->is_overlaid = (uint8_t)lay_over(call, current->key);
}

static uint64_t hash_of(const uint8_t *bytes, size_t length) {
  uint64_t hash = length;
  for (size_t at = 0; at < length && at < HASHED_BYTES; at += sizeof hash) {
    uint64_t word = 0;
    memcpy(&word, bytes + at, length - at < sizeof word ? length - at : sizeof word);
    hash = (hash ^ word) * 0x9fb21c651e98df25u;
    hash ^= hash >> 32;
  }
  return hash;
}

static void end(const uint8_t *front, size_t left, uint64_t value) {
  struct qgm_draw *draw = current;
  const struct qgm_draw_call *call = &call_of_current;
  (void)front;
  if (!draw || !__quagmire_lowest_stack)
    return;
  current = NULL;
  size_t length = left < call->left ? call->left - left : 0;
  const uint8_t *bytes = call->front;
  int is_number = draw->kind <= QGM_DRAW_REAL;
  if (is_number)
    bytes += left;
  int takes_bytes = is_number || (draw->kind >= QGM_DRAW_TEXT && draw->kind <= QGM_DRAW_REST);
  draw->value = takes_bytes && draw->kind >= QGM_DRAW_REAL ? hash_of(bytes, length) : value;
  draw->length = (uint32_t)length;
  draw->offset = is_in_input(bytes, length) ? (uint32_t)((uintptr_t)bytes - input) : QGM_ELSEWHERE;
}

void __quagmire_keep_generated(const void *bytes, size_t size) {
  is_generated = 1;
  __quagmire_draws->generated = size + 1;
  if (is_recording)
    memcpy(__quagmire_draws->made, bytes, size < QGM_GENERATED_BYTES ? size : QGM_GENERATED_BYTES);
}

static void generated(const void *bytes, size_t size) {
  if (!__quagmire_draws || !__quagmire_lowest_stack || is_generated)
    return;
  __quagmire_keep_generated(bytes, size);
  __quagmire_begin_target(__builtin_frame_address(0));
}
