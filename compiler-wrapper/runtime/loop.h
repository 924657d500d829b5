/* Part of serve.c: many runs in one child. At __AFL_LOOP it answers for the run and waits for the next request. */

/* Counts at the start of a child with a loop, restored when it reaches the loop: code before it belongs to no run. They may
   be those of several runs, which add up. */
static char *counts_before;

/* Saves or restores the counts of all objects. */
static void copy_counts(int back) {
  size_t at = 0;
  for (uint64_t i = 0; counts_before && i < own.region_count; i++) {
    void *counts = (void *)own.region[i].address, *copy = counts_before + at;
    memcpy(back ? counts : copy, back ? copy : counts, own.region[i].length);
    at += own.region[i].length;
  }
}

static void keep_counts(void) {
  counts_before = mmap(NULL, own.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (counts_before == MAP_FAILED)
    counts_before = NULL;
  copy_counts(0);
}

static void restore_counts(void) {
  copy_counts(1);
  if (counts_before)
    munmap(counts_before, own.bytes);
}

/* Completes the run that has just returned to the loop. */
static void end_round(void) {
  served->heap.counting = 0;
  served->cycles = time_stamp() - served->began;
  served->time_ns = served->cycles < QGM_SHORT_CYCLES ? 0 : cpu_ns() - served->cpu_began;
  served->measured = 1;
  if (served->looped == QGM_ENDED)
    served->looped = QGM_WENT_ROUND;
  note_stack();
}

/* Answers for a run and waits for the next request. Ends if libraries are to be opened, which the server does. */
static void wait_for_request(void) {
  uint32_t word = (uint32_t)served->wanted;
  served->answered = served->wanted;
  if (say(word) != 0 || hear(&word) != 0 || served->opening)
    leave(0);
  reset();
}

int __quagmire_loop(const char *sign, unsigned rounds) {
  static unsigned left, threads;
  static int is_warming_up;
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
      note_active(__builtin_return_address(0));
  } else if (is_warming_up) {
    /* the code before the loop and the way into it belong to no run: repeat with the same input */
    is_warming_up = 0;
    served->heap.counting = 0;
    if (__quagmire_mode == QGM_QUAGMIRE) {
      restore_counts();
      served->looped = QGM_STARTED;
      wait_for_request();
    } else {
      for_all_that_ran(clear_function);
      lseek(0, 0, SEEK_SET);
    }
  } else {
    if (__quagmire_mode == QGM_QUAGMIRE)
      end_round();
    else if (child_fills)
      afl_fill_map();
    /* the code after the loop belongs to no run either, and leftover threads would count in the next one */
    if (--left == 0 || threads_after(threads) > threads)
      leave(0);
    if (__quagmire_mode == QGM_QUAGMIRE)
      wait_for_request();
    else
      raise(SIGSTOP);
  }
  begin(__builtin_frame_address(0));
  if (__quagmire_mode == QGM_QUAGMIRE) {
    served->cpu_began = cpu_ns();
    served->began = time_stamp();
  }
  return 1;
}

void __quagmire_reject(void) {
  if (__quagmire_mode == QGM_QUAGMIRE && served)
    served->looped = QGM_WENT_REJECT;
}

/* Input of programs that are run by hand: standard input. */
static unsigned char *by_hand;
#define BY_HAND_BYTES (1 << 20)

unsigned char *__quagmire_testcase(void) {
  if (memory)
    return memory;
  if (afl_input)
    return (unsigned char *)(afl_input + 1);
  if (!by_hand)
    by_hand = malloc(BY_HAND_BYTES);
  return by_hand;
}

int __quagmire_testcase_size(void) {
  if (memory)
    return (int)served->input_size;
  if (afl_input)
    return (int)*afl_input;
  unsigned char *bytes = __quagmire_testcase();
  size_t size = 0;
  for (ssize_t more = 1; bytes && more > 0 && size < BY_HAND_BYTES; size += more > 0 ? (size_t)more : 0)
    more = read(0, bytes + size, BY_HAND_BYTES - size);
  return (int)size;
}
