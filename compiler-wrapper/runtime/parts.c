/* Linked into every executable: which draws belong together. Stacks grow down, so that frames read like indentation: a frame
   below that of the last draw is that of a function that was called since, one above it means that functions have returned. In
   a frame, a site that is seen again begins the next call of the function, if it was the first one, or the next round of a
   loop. Everything is bounded: beyond, parts are not told apart. */
#include "draws.h"

#include "draw_hooks.h"

#define MOST_PARTS 256
#define SITES 16

/* A part that is not over. */
struct part {
  uintptr_t frame;
  uint64_t key;
  uint64_t first;  /* site of its first draw */
  uint32_t number; /* of that draw */
  uint32_t is_named;
  /* Sites that were seen in its frame, at the place of their hash, with the number of the draw. How many draws and parts
     began at sites of this place. */
  struct {
    uint32_t tag, draw, count;
  } site[SITES];
};

/* The first one is what is around all. */
static struct part parts[MOST_PARTS];
static struct part *top = parts;
/* Number of named parts that have begun and found no room. */
static uint32_t unnoted;

static uint64_t mix(uint64_t hash, uint64_t with) {
  hash = (hash ^ with) * 0x9fb21c651e98df25u;
  return hash ^ (hash >> 32);
}

static unsigned place_of(uint64_t site) { return (unsigned)(mix(1, site) % SITES); }
static uint32_t tag_of(uint64_t site) { return (uint32_t)(mix(2, site) >> 32) | 1; }

void __quagmire_clear_parts(void) {
  top = parts;
  top->frame = UINTPTR_MAX;
  top->key = 1;
  unnoted = 0;
  for (unsigned i = 0; i < SITES; i++)
    top->site[i].tag = top->site[i].count = 0;
}

static void pop(struct part *to) {
  top = to;
  unnoted = 0;
}

/* Begins a part in the one on top. Returns whether there is room. */
static int push(uintptr_t frame, uint64_t site, uint32_t number, int is_named) {
  if (top == parts + MOST_PARTS - 1)
    return 0;
  uint64_t key = mix(mix(top->key, site), ++top->site[place_of(site)].count);
  *++top = (struct part){.frame = frame, .key = key, .first = site, .number = number, .is_named = (uint32_t)is_named};
  return 1;
}

/* A loop in `around` has come back to a site: what was drawn since the last time there was its first round. */
static void make_round(struct qgm_draw *draws, struct part *around, uint64_t site, uint32_t number) {
  uint32_t first = around->site[place_of(site)].draw;
  for (uint32_t i = first; i < number; i++) {
    if (draws[i].part == around->number)
      draws[i].part = first;
    draws[i].depth++;
  }
  for (unsigned i = 0; i < SITES; i++)
    if (around->site[i].draw > first)
      around->site[i].tag = 0;
}

/* Finds the part of a draw, and begins it if it is a new one. */
static void enter(struct qgm_draw *draws, uint32_t number, uint64_t site, uintptr_t frame) {
  while (top->frame < frame)
    pop(top - 1);
  if (top->frame > frame) {
    push(frame, site, number, 0);
    return;
  }
  for (struct part *seen = top; seen->frame == frame; seen--) {
    if (seen->site[place_of(site)].tag == tag_of(site)) {
      if (seen->first == site && !seen->is_named) {
        pop(seen - 1);
      } else if (seen == parts + MOST_PARTS - 1) {
        return;
      } else {
        pop(seen);
        make_round(draws, seen, site, number);
      }
      push(frame, site, number, 0);
      return;
    }
    if (seen->is_named)
      return;
  }
}

/* Ends the named part that was begun last. */
static void close(void) {
  if (unnoted > 0) {
    unnoted--;
    return;
  }
  for (struct part *part = top; part != parts; part--)
    if (part->is_named) {
      pop(part - 1);
      return;
    }
}

void __quagmire_place_draw(struct qgm_draw *draws, uint32_t number, uintptr_t frame) {
  struct qgm_draw *draw = draws + number;
  if (draw->kind == QGM_DRAW_OPEN) {
    while (top->frame < frame)
      pop(top - 1);
    unnoted += !push(frame, draw->site, number, 1);
  } else if (draw->kind != QGM_DRAW_CLOSE) {
    enter(draws, number, draw->site, frame);
  }
  unsigned place = place_of(draw->site);
  if (top->frame == frame && top->site[place].tag != tag_of(draw->site)) {
    top->site[place].tag = tag_of(draw->site);
    top->site[place].draw = number;
  }
  draw->part = top->number;
  draw->depth = (uint16_t)(top - parts);
  draw->key = mix(mix(mix(top->key, draw->site), ++top->site[place].count), draw->kind);
  if (draw->kind == QGM_DRAW_CLOSE)
    close();
}
