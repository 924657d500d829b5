/* Functions with mutants whose fate is known: the words in comments name lines for the tests of `quagmire mutants`. */
#include <quagmire/observe.h>
#include <stdint.h>
#include <stdlib.h>

#include "mutants.h"

static int larger(int a, int b) {
  if (a < b) /* equivalent moved */
    return b;
  return a;
}

static int not_called(int a) { return a * 3; } /* not called */

int (*not_called_either)(int) = not_called;

static int sum;

static void note(int n) {
  sum += n; /* noted */
}

static int turns(int n) {
  int done = 0;
  while (n > 0) {
    n -= 2; /* endless */
    done++;
  }
  return done;
}

static const int table[] = {3, 1, 2, 5};

static int pick(unsigned i) {
  return table[i & 3]; /* picked */
}

static int crash_if(int is_wrong) {
  if (is_wrong) /* aborts */
    abort();
  return 0;
}

static int low(int a) {
  return a & 0xff; /* never infected */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int results[8] = {0};
  if (size < 2 || data[0] == 'r')
    return -1;
  sum = 0;
  results[0] = larger(data[0], data[1]);
  note(data[0]);
  results[1] = sum;
  results[2] = turns(6);
  results[3] = pick(data[1]);
  results[4] = crash_if(data[0] == '!');
  results[5] = low(7);
  results[6] = twice(data[0]);
  results[7] = is_even(data[1]);
  qgm_observe(results, sizeof results);
  return 0;
}
