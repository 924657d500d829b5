/* Part of the fork server: many runs in one child. At __AFL_LOOP it answers for the run and waits for the next request. */
#include "machine.h"

#include "run.h"
#include "afl.h"
#include "counts.h"
#include "draws.h"
#include "threads.h"
#include "window.h"

/* Completes the run that has just returned to the loop. */
static void end_round(void) {
  struct qgm_served *served = __quagmire_served;
  served->heap.counting = 0;
  served->cycles = time_stamp() - served->began;
  served->time_ns = served->cycles < QGM_SHORT_CYCLES ? 0 : __quagmire_cpu_ns() - served->cpu_began;
  served->measured = 1;
  if (served->looped == QGM_ENDED)
    served->looped = QGM_WENT_ROUND;
  __quagmire_note_stack();
  __quagmire_count_active();
  __quagmire_end_draws();
}

/* Answers for a run and waits for the next request. Ends if libraries are to be opened, which the server does. */
static void wait_for_request(void) {
  struct qgm_served *served = __quagmire_served;
  uint32_t word = (uint32_t)served->wanted;
  served->answered = served->wanted;
  if (__quagmire_say(word) != 0 || __quagmire_hear(&word) != 0 || served->opening)
    __quagmire_leave(0);
  __quagmire_reset();
}

int __quagmire_loop(const char *sign, unsigned rounds) {
  static unsigned left, threads;
  static int in_loop, is_warming_up;
  int is_first = !in_loop;
  in_loop = 1;
  if (__quagmire_mode == QGM_ALONE || __quagmire_mode == QGM_AFL_ALONE)
    return is_first;
  if (is_first) {
    /* plus the warm-up round */
    left = rounds;
    threads = other_threads();
    is_warming_up = 1;
    if (sign)
      __quagmire_note_active(__builtin_return_address(0));
  } else if (is_warming_up) {
    /* the code before the loop and the way into it belong to no run: repeat with the same input */
    is_warming_up = 0;
    __quagmire_count_active();
    __quagmire_served->heap.counting = 0;
    if (__quagmire_mode == QGM_QUAGMIRE) {
      __quagmire_restore_counts();
      __quagmire_served->looped = QGM_STARTED;
      wait_for_request();
    } else {
      __quagmire_clear_counts();
      lseek(0, 0, SEEK_SET);
    }
  } else {
    if (__quagmire_mode == QGM_QUAGMIRE)
      end_round();
    else if (__quagmire_afl_child_fills)
      __quagmire_afl_fill_map();
    /* the code after the loop belongs to no run either, and leftover threads would count in the next one */
    if (--left == 0 || threads_after(threads) > threads)
      __quagmire_leave(0);
    if (__quagmire_mode == QGM_QUAGMIRE)
      wait_for_request();
    else
      raise(SIGSTOP);
  }
  __quagmire_begin(__builtin_frame_address(0));
  if (__quagmire_mode == QGM_QUAGMIRE) {
    __quagmire_served->cpu_began = __quagmire_cpu_ns();
    __quagmire_served->began = time_stamp();
  }
  return 1;
}

void __quagmire_reject(void) {
  if ((__quagmire_mode == QGM_QUAGMIRE || __quagmire_mode == QGM_AFL) && __quagmire_served)
    __quagmire_served->looped = QGM_WENT_REJECT;
}
