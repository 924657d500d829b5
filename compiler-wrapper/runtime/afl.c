/* Part of the fork server: what AFL++'s tools need, whose map is filled from the counts after each run. */
#include "afl.h"

#include "counts.h"

#include <stdlib.h>
#include <sys/shm.h>

#define AFL_HAS_SIZE 0x40000000u
#define AFL_LARGEST_SIZE (1u << 23)

/* The first four entries stay empty: AFL reads them as a word to see whether the program could be started. */
#define AFL_FIRST 4

static uint8_t *afl_map;
static uint64_t afl_map_size;
int __quagmire_afl_child_fills;

void *__quagmire_afl_attach(const char *variable) {
  const char *id = getenv(variable);
  void *memory = id ? shmat(atoi(id), NULL, 0) : (void *)-1;
  return memory == (void *)-1 ? NULL : memory;
}

uint64_t __quagmire_afl_wanted_size(void) { return (AFL_FIRST + __quagmire_all_edges + 63) / 64 * 64; }

int __quagmire_afl_find_map(void) {
  afl_map = __quagmire_afl_attach("__AFL_SHM_ID");
  if (!afl_map)
    return 0;
  struct shmid_ds is;
  int known = shmctl(atoi(getenv("__AFL_SHM_ID")), IPC_STAT, &is) == 0;
  afl_map_size = known ? is.shm_segsz : __quagmire_afl_wanted_size();
  return 1;
}

static void add_function(const struct qgm_function *function, uint64_t edge) {
  uint64_t at = AFL_FIRST + edge;
  /* charges are no edges: they would be new again and again */
  for (uint32_t i = 0; i < function->edges - function->charges && at < afl_map_size; i++, at++) {
    uint32_t count = i == 0 ? *function->entry : function->counts[i - 1];
    if (count)
      afl_map[at] = count < 255 ? (uint8_t)count : 255;
  }
}

void __quagmire_afl_fill_map(void) { __quagmire_for_all_that_ran(add_function); }

uint32_t __quagmire_afl_hello(int takes_memory) {
  uint64_t size = __quagmire_afl_wanted_size();
  uint32_t hello = AFL_ENABLED | (takes_memory ? AFL_TAKES_MEMORY : 0);
  /* the largest size that the greeting can express */
  return size <= AFL_LARGEST_SIZE ? hello | AFL_HAS_SIZE | (uint32_t)(size - 1) << 1 : hello;
}
