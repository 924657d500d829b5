/* What the fork server offers: to the program, and to drivers that call a harness. */
#pragma once

#include "quagmire.h"

/* Kinds of processes that may have started the program. */
enum qgm_mode {
  QGM_ALONE,     /* none that reads counts */
  QGM_QUAGMIRE,  /* quagmire */
  QGM_AFL,       /* one of AFL++'s tools, with a fork server */
  QGM_AFL_ALONE, /* one of them, without: the process fills the map itself */
};

extern enum qgm_mode __quagmire_mode QGM_HIDDEN;

/* What __AFL_INIT() and __AFL_LOOP() call; __AFL_FUZZ_TESTCASE_BUF and __AFL_FUZZ_TESTCASE_LEN. `sign` is what AFL++ looks
   for in the file, and null where the caller has no counts. */
void __quagmire_init(const char *sign);
int __quagmire_loop(const char *sign, unsigned rounds);
unsigned char *__quagmire_testcase(void);
int __quagmire_testcase_size(void);
/* Marks the input of this round as rejected. */
QGM_HIDDEN void __quagmire_reject(void);
