// An engine in C for the runtime of harnesses: objects register, go, and come back; runs end in every way.
#include "quagmire.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void __quagmire_register(const struct qgm_function *, const struct qgm_function *, uint32_t *, uint32_t *);
void __quagmire_unregister(const struct qgm_function *, const struct qgm_function *, uint32_t *, uint32_t *);
int quagmire_engine_main(int argc, char **argv, const struct qgm_harness *harness);
size_t quagmire_engine_mutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#define CHECK(what) \
  do { \
    if (!(what)) { \
      printf("line %d: %s\n", __LINE__, #what); \
      fflush(stdout); \
      _Exit(1); \
    } \
  } while (0)

// tables as the pass writes them; OBJECTS more with one function each, all of different shape
#define OBJECTS (QGM_MAX_MODULES + 3)
static uint32_t entries[3], counts[5];
static const uint32_t weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
// functions[1] is empty, as linkers leave them
static struct qgm_function functions[3] = {
    {.entry = entries, .counts = counts, .weights = weights, .edges = 4},
    {.entry = NULL},
    {.entry = entries + 1, .counts = counts + 3, .weights = weights + 4, .edges = 3},
};
// an object beside it, and one that differs in nothing but the order of its entries
static uint32_t beside_entry, beside_counts[4] = {1, 2, 3, 4}, swapped_entries[3], swapped_counts[5];
static struct qgm_function beside = {.entry = &beside_entry, .counts = beside_counts, .weights = weights, .edges = 5};
static struct qgm_function swapped[3] = {
    {.entry = swapped_entries + 1, .counts = swapped_counts, .weights = weights, .edges = 4},
    {.entry = NULL},
    {.entry = swapped_entries, .counts = swapped_counts + 3, .weights = weights + 4, .edges = 3},
};
static uint32_t many_entries[OBJECTS], many_counts[OBJECTS];
static struct qgm_function many[OBJECTS];

static void make_tables(void) {
  for (uint32_t i = 0; i < OBJECTS; i++)
    many[i] = (struct qgm_function){
        .entry = many_entries + i, .counts = many_counts + i, .weights = weights, .edges = 2, .progress = i};
}

static void open_it(void) { __quagmire_register(functions, functions + 3, entries, entries + 3); }
static void close_it(void) { __quagmire_unregister(functions, functions + 3, entries, entries + 3); }

// all counts of an object survive that it is closed, and those beside it stay as they are
static void check_counts(void) {
  struct qgm_modules *modules = &__quagmire_modules;
  __quagmire_register(&beside, &beside + 1, &beside_entry, &beside_entry + 1);
  uint64_t place = modules->count, generation = modules->generation;
  beside_entry = 6;
  open_it();
  CHECK(modules->generation == generation + 2);
  open_it();
  CHECK(modules->generation == generation + 2);
  entries[0] = 3;
  memcpy(counts, (uint32_t[]){11, 12, 13, 14, 15}, sizeof counts);
  close_it();
  CHECK(modules->generation == generation + 4);
  CHECK(modules->module[place - 1].functions_start == &beside);
  const struct qgm_module *own = &modules->module[place];
  const struct qgm_function *left = own->functions_start;
  CHECK(left != functions && own->functions_stop == left + 3 && own->entries_stop == own->entries_start + 3);
  CHECK(left[0].entry == own->entries_start && left[2].entry == own->entries_start + 1);
  CHECK(own->entries_start[0] == 3 && memcmp(left[0].counts, counts, 3 * sizeof *counts) == 0);
  // it did not run, so that what is there is nobody's
  CHECK(own->entries_start[1] == 0 && left[2].counts == left[0].counts + 3);
  __quagmire_register(swapped, swapped + 3, swapped_entries, swapped_entries + 3);
  CHECK(modules->count == place + 2 && modules->module[place + 1].functions_start == swapped);
  __quagmire_unregister(swapped, swapped + 3, swapped_entries, swapped_entries + 3);
  CHECK(modules->module[place].functions_start == left);
  memset(entries, 0, sizeof entries);
  memset(counts, 0, sizeof counts);
  // what ran before it was registered again is added
  entries[0] = 1;
  counts[1] = 100;
  counts[3] = 7;
  open_it();
  CHECK(modules->count == place + 2 && entries[0] == 4 && entries[1] == 0);
  CHECK(memcmp(counts, (uint32_t[]){11, 112, 13, 7, 0}, sizeof counts) == 0);
  CHECK(left[0].counts[0] == 0 && left[0].counts[2] == 0);
  close_it();
  CHECK(beside_entry == 6 && memcmp(beside_counts, (uint32_t[]){1, 2, 3, 4}, sizeof beside_counts) == 0);
  memset(entries, 0, sizeof entries);
  memset(counts, 0, sizeof counts);
  open_it();
  memset(entries, 0, sizeof entries);
  memset(counts, 0, sizeof counts);
  close_it();
}

static void check_objects(void) {
  struct qgm_modules *modules = &__quagmire_modules;
  // those of check_counts have their places
  uint64_t known = modules->count;
  open_it();
  open_it();
  CHECK(modules->count == known && modules->generation % 2 == 0);
  const struct qgm_module *own = &modules->module[known - 2];
  CHECK(own->functions_start == functions);
  entries[1] = 7;
  counts[4] = 9;
  close_it();
  close_it();
  // the memory of an object that was closed goes
  memset(entries, 0, sizeof entries);
  memset(counts, 0, sizeof counts);
  CHECK(own->functions_start != functions && own->functions_stop - own->functions_start == 3);
  const struct qgm_function *left = &own->functions_start[2];
  CHECK(own->entries_start[1] == 7 && *left->entry == 7 && left->counts[1] == 9 && left->counts[0] == 0);
  CHECK(left->weights != weights + 4 && left->weights[2] == 7 && !own->functions_start[1].entry);
  // what runs before it registers again counts too
  entries[1] = 1;
  open_it();
  CHECK(modules->count == known && own->functions_start == functions);
  CHECK(entries[1] == 8 && counts[4] == 9 && counts[3] == 0 && *left->entry == 0 && left->counts[1] == 0);
  // a copy of a copy has the present counts
  close_it();
  CHECK(*left->entry == 8 && left->counts[1] == 9);
  for (uint32_t i = 0; i < OBJECTS; i++)
    __quagmire_register(many + i, many + i + 1, many_entries + i, many_entries + i + 1);
  CHECK(modules->count == QGM_MAX_MODULES && modules->refused == known + 3);
  // one that has a place gets it again, even so
  __quagmire_unregister(many, many + 1, many_entries, many_entries + 1);
  __quagmire_register(many, many + 1, many_entries, many_entries + 1);
  open_it();
  CHECK(modules->refused == known + 3 && own->functions_start == functions);
}

static volatile int thread_may_end;

static void *exits(void *nothing) {
  exit(5);
  return nothing;
}

static void *waits(void *nothing) {
  while (!thread_may_end)
    usleep(1000);
  return nothing;
}

static void start(void *(*what)(void *)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, what, NULL) == 0);
  pthread_detach(thread);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  switch (size ? data[0] : 0) {
  case 'a':
    free(malloc(1000));
    return 0;
  case 'c':
    raise(SIGSEGV);
    return 0;
  case 'e':
    exit(4);
  case 'h':
    for (;;)
      usleep(100);
  case 'r':
    return -1;
  case 't':
    start(exits);
    for (;;)
      usleep(100);
  case 'w':
    start(waits);
    return 0;
  default:
    return 0;
  }
}

size_t quagmire_engine_mutate(uint8_t *data, size_t size, size_t max_size) {
  CHECK(size < max_size);
  data[size] = '+';
  return size + 1;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  if (seed == 1)
    raise(SIGSEGV);
  while (seed == 2)
    usleep(100);
  return LLVMFuzzerMutate(data, LLVMFuzzerMutate(data, size, max_size), max_size);
}

static void check_mutator(const struct qgm_harness *harness) {
  const enum qgm_status expected[] = {QGM_RETURNED, QGM_CRASHED, QGM_HUNG, QGM_RETURNED};
  CHECK(harness->cross_over == NULL);
  for (uint64_t seed = 0; seed < sizeof expected / sizeof *expected; seed++) {
    uint8_t bytes[8] = "ab";
    struct qgm_mutation one = {.out = bytes, .size = 2, .max_size = sizeof bytes, .seed = seed};
    CHECK(harness->mutate(&one) == expected[seed]);
    CHECK(expected[seed] != QGM_RETURNED || (one.size == 4 && memcmp(bytes, "ab++", 4) == 0));
  }
}

static int inner_ticks;

// a run with many ticks is a hang; the signal that comes during a tick is none
static enum qgm_status tick(uint64_t ticks_in_run) {
  static int depth;
  inner_ticks += depth > 0;
  depth++;
  pthread_kill(pthread_self(), SIGRTMIN + 7);
  depth--;
  return ticks_in_run > 20 ? QGM_HUNG : QGM_RETURNED;
}

int quagmire_engine_main(int argc, char **argv, const struct qgm_harness *harness) {
  (void)argc, (void)argv;
  CHECK(harness->abi == QGM_ABI);
  make_tables();
  check_counts();
  check_objects();
  harness->guard(5000000, tick);
  struct {
    const char *input;
    enum qgm_status status;
  } expected[] = {{"", QGM_RETURNED}, {"r", QGM_REJECTED}, {"c", QGM_CRASHED}, {"e", QGM_EXITED}, {"h", QGM_HUNG},
                  {"t", QGM_EXITED},  {"a", QGM_RETURNED}, {"w", QGM_RETURNED}, {"", QGM_RETURNED}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const char *input = expected[i].input;
    enum qgm_status status = harness->run((const uint8_t *)input, strlen(input));
    printf("%s: %d, %d threads\n", input, status, (int)harness->resources->threads);
    CHECK(status == expected[i].status);
    CHECK(status != QGM_EXITED || harness->event->exit_code == (*input == 'e' ? 4 : 5));
    CHECK(status != QGM_CRASHED || harness->event->signal == SIGSEGV);
    // the one that asked for the end stays, out of the way
    CHECK(harness->resources->threads == (*input == 't' || *input == 'w'));
    CHECK(*input != 'a' || (harness->resources->heap_peak >= 1000 && harness->resources->heap_total >= 1000));
  }
  check_mutator(harness);
  CHECK(inner_ticks == 0);
  printf("done\n");
  return 0;
}
