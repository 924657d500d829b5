/* What the parts of the fork server know of each other. */
#ifndef QUAGMIRE_SERVE_H
#define QUAGMIRE_SERVE_H

#include "machine.h"
#include "quagmire.h"

/* Who has started the program. */
enum qgm_mode {
  QGM_ALONE,     /* nobody who looks at counts */
  QGM_QUAGMIRE,  /* quagmire */
  QGM_AFL,       /* one of AFL++'s tools, with a fork server */
  QGM_AFL_ALONE, /* one of them, without: the process fills the map itself */
};

extern enum qgm_mode __quagmire_mode __attribute__((visibility("hidden")));

/* What __AFL_INIT() and __AFL_LOOP() call; __AFL_FUZZ_TESTCASE_BUF and __AFL_FUZZ_TESTCASE_LEN. `sign` is what AFL++ looks
   for in the file, and null where the caller has no counts. */
void __quagmire_init(const char *sign);
int __quagmire_loop(const char *sign, unsigned rounds);
unsigned char *__quagmire_testcase(void);
int __quagmire_testcase_size(void);
/* Called when an object has registered. */
void __quagmire_registered(const struct qgm_module *module) __attribute__((visibility("hidden")));
/* The input of this round is not to be kept. */
void __quagmire_reject(void) __attribute__((visibility("hidden")));

#endif
