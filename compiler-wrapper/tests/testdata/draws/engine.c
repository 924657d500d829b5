/* An engine in C that shows draws: runs the harness once on the file of its first argument, and again with an overlay: its other
   arguments are NUMBER=TEXT, where NUMBER is that of a draw of the first run. Prints the draws of each run, and at the end the
   input that the overlay has made. */
#include "draw_hooks.h"
#include "quagmire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int quagmire_engine_main(int argc, char **argv, const struct qgm_harness *harness);
size_t quagmire_engine_mutate(uint8_t *data, size_t size, size_t max_size);

size_t quagmire_engine_mutate(uint8_t *data, size_t size, size_t max_size) {
  (void)data, (void)max_size;
  return size;
}

static enum qgm_status tick(uint64_t ticks_in_run) { return ticks_in_run > 2000 ? QGM_HUNG : QGM_RETURNED; }

static const char *const kinds[] = {"integer", "flip", "pick", "real", "text", "bytes", "rest", "size", "open", "close"};
static uint64_t sites[4096];
static unsigned known;

/* Number of a site, in the order of their first draws. */
static unsigned number_of(uint64_t site) {
  for (unsigned i = 0; i < known; i++)
    if (sites[i] == site)
      return i;
  sites[known] = site;
  return known++;
}

static void show(const struct qgm_draws *draws) {
  uint64_t count = draws->count < QGM_MAX_DRAWS ? draws->count : QGM_MAX_DRAWS;
  printf("draws %llu\n", (unsigned long long)draws->count);
  if (draws->generated)
    printf("generated %.*s\n", (int)draws->generated - 1, (const char *)draws->made);
  for (uint64_t i = 0; i < count && i < 2000; i++) {
    const struct qgm_draw *d = draws->draw + i;
    printf("%llu %s site=%u part=%u depth=%u range=%llu value=%llu offset=%d length=%u%s\n", (unsigned long long)i,
           kinds[d->kind], number_of(d->site), d->part, d->depth, (unsigned long long)d->range, (unsigned long long)d->value,
           (int)d->offset, d->length, d->is_overlaid ? " overlaid" : "");
    for (uint64_t j = 0; j < i; j++)
      if (draws->draw[j].key == d->key)
        printf("the key of draw %llu is that of draw %llu\n", (unsigned long long)i, (unsigned long long)j);
  }
}

static int by_key(const void *a, const void *b) {
  uint64_t first = ((const struct qgm_overlay_item *)a)->key, second = ((const struct qgm_overlay_item *)b)->key;
  return (first > second) - (first < second);
}

int quagmire_engine_main(int argc, char **argv, const struct qgm_harness *harness) {
  static uint8_t bytes[1 << 20];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!file)
    return 1;
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  struct qgm_draws *draws = harness->draws;
  harness->initialize();
  harness->guard(10000000, tick);
  printf("compiled %d\n", (int)draws->are_used);
  draws->are_used = 0;
  harness->run(bytes, size);
  printf("used %d, recorded %d\n", (int)draws->are_used, (int)draws->count);
  draws->is_recording = 1;
  printf("status %d\n", harness->run(bytes, size));
  show(draws);
  uint32_t start = 0, items = 0;
  for (int i = 2; i < argc; i++) {
    const char *text = strchr(argv[i], '=') + 1;
    struct qgm_overlay_item item = {draws->draw[atoi(argv[i])].key, start, (uint32_t)strlen(text)};
    memcpy(draws->overlay + start, text, item.length);
    start += item.length;
    draws->item[items++] = item;
  }
  if (items > 0) {
    qsort(draws->item, items, sizeof *draws->item, by_key);
    draws->items = items;
    draws->is_recording = 0;
    printf("status %d\n", harness->run(bytes, size));
    show(draws);
    printf("input %.*s\n", (int)size, (const char *)bytes);
  }
  return 0;
}
