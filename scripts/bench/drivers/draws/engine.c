/* An engine that measures: runs the harness on random bytes, in turns recording nothing, and recording draws, and prints the
   shortest time of a run of each in nanoseconds, and the number of draws that the runs recorded on average. */
#include "quagmire.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TURNS 40
#define RUNS 2000

int quagmire_engine_main(int argc, char **argv, const struct qgm_harness *harness);
size_t quagmire_engine_mutate(uint8_t *data, size_t size, size_t max_size);

size_t quagmire_engine_mutate(uint8_t *data, size_t size, size_t max_size) {
  (void)data, (void)max_size;
  return size;
}

static enum qgm_status tick(uint64_t ticks) { return ticks > 2000 ? QGM_HUNG : QGM_RETURNED; }

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int quagmire_engine_main(int argc, char **argv, const struct qgm_harness *harness) {
  (void)argc, (void)argv;
  static uint8_t bytes[RUNS][512];
  for (int i = 0; i < RUNS; i++)
    for (int j = 0; j < 512; j++)
      bytes[i][j] = (uint8_t)rand();
  harness->guard(100000000, tick);
  double best[2] = {1e18, 1e18};
  uint64_t draws = 0;
  for (int turn = 0; turn < 2 * TURNS; turn++) {
    int on = turn % 2;
    harness->draws->is_recording = (uint64_t)on;
    double start = now();
    for (int i = 0; i < RUNS; i++) {
      harness->run(bytes[i], 512);
      draws += on ? harness->draws->count : 0;
    }
    double took = (now() - start) / RUNS;
    best[on] = took < best[on] ? took : best[on];
  }
  printf("%.1f %.1f %.1f\n", best[0], best[1], (double)draws / (TURNS * RUNS));
  return 0;
}
