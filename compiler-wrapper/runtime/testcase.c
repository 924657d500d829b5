/* Part of the fork server: inputs that the program takes from memory. */
#include "machine.h"

#include "afl.h"
#include "draws.h"
#include "run.h"

#include <stdlib.h>
#include <sys/mman.h>

/* quagmire's mapping of the input. */
static uint8_t *memory;
/* AFL's: its length, followed by its bytes. */
static uint32_t *afl_input;

int __quagmire_map_testcase(void) {
  memory = mmap(NULL, QGM_INPUT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, QGM_INPUT, 0);
  if (memory == MAP_FAILED)
    memory = NULL;
  return memory != NULL;
}

void __quagmire_attach_testcase(void) { afl_input = __quagmire_afl_attach("__AFL_SHM_FUZZ_ID"); }

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
  if (memory) {
    if (!__quagmire_has_generator())
      __quagmire_draw_from(memory, __quagmire_served->input_size, memory);
    return (int)__quagmire_served->input_size;
  }
  if (afl_input)
    return (int)*afl_input;
  unsigned char *bytes = __quagmire_testcase();
  size_t size = 0;
  for (ssize_t more = 1; bytes && more > 0 && size < BY_HAND_BYTES; size += more > 0 ? (size_t)more : 0)
    more = read(0, bytes + size, BY_HAND_BYTES - size);
  return (int)size;
}
