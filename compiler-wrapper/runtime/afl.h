/* Support for AFL++'s tools: converts the counts to AFL's map after each run. */
#ifndef QUAGMIRE_AFL_H
#define QUAGMIRE_AFL_H

#include "counts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/shm.h>

/* Greeting of a fork server in the protocol of AFL++ 4. */
#define AFL_ENABLED 0x80000001u
#define AFL_HAS_SIZE 0x40000000u
#define AFL_TAKES_MEMORY 0x01000000u
#define AFL_LARGEST_SIZE (1u << 23)

/* The first four entries stay empty: AFL reads them as a word to see whether the program could be started. */
#define AFL_FIRST 4

static uint8_t *afl_map;
static uint64_t afl_map_size;
/* An input in shared memory: its length, followed by its bytes. */
static uint32_t *afl_input;

static void *afl_attach(const char *variable) {
  const char *id = getenv(variable);
  void *memory = id ? shmat(atoi(id), NULL, 0) : (void *)-1;
  return memory == (void *)-1 ? NULL : memory;
}

/* Required size of the map. */
static uint64_t afl_wanted_size(void) { return (AFL_FIRST + all_edges + 63) / 64 * 64; }

/* Attaches AFL's map. Returns whether there is one. */
static int afl_find_map(void) {
  afl_map = afl_attach("__AFL_SHM_ID");
  if (!afl_map)
    return 0;
  struct shmid_ds is;
  int known = shmctl(atoi(getenv("__AFL_SHM_ID")), IPC_STAT, &is) == 0;
  afl_map_size = known ? is.shm_segsz : afl_wanted_size();
  return 1;
}

static void afl_add_function(const struct qgm_function *function, uint64_t edge) {
  uint64_t at = AFL_FIRST + edge;
  for (uint32_t i = 0; i < function->edges && at < afl_map_size; i++, at++) {
    uint32_t count = i == 0 ? *function->entry : function->counts[i - 1];
    if (count)
      afl_map[at] = count < 255 ? (uint8_t)count : 255;
  }
}

/* Stores the counts in the map, saturated to eight bits. */
static void afl_fill_map(void) { for_all_that_ran(afl_add_function); }

static uint32_t afl_hello(int takes_memory) {
  uint64_t size = afl_wanted_size();
  uint32_t hello = AFL_ENABLED | (takes_memory ? AFL_TAKES_MEMORY : 0);
  /* the largest size that the greeting can express */
  return size <= AFL_LARGEST_SIZE ? hello | AFL_HAS_SIZE | (uint32_t)(size - 1) << 1 : hello;
}

#endif
