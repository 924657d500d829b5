/* Support for AFL++'s tools: converts the counts to AFL's map after each run. */
#ifndef QUAGMIRE_AFL_H
#define QUAGMIRE_AFL_H

#include "quagmire.h"

/* Greeting of a fork server in the protocol of AFL++ 4. */
#define AFL_ENABLED 0x80000001u
#define AFL_TAKES_MEMORY 0x01000000u

/* Whether the child fills the map: its counts could not be shared. */
extern int __quagmire_afl_child_fills QGM_HIDDEN;

/* Attaches the memory whose number is in an environment variable; null if there is none. */
QGM_HIDDEN void *__quagmire_afl_attach(const char *variable);
/* Attaches AFL's map. Returns whether there is one. */
QGM_HIDDEN int __quagmire_afl_find_map(void);
/* Required size of the map. */
QGM_HIDDEN uint64_t __quagmire_afl_wanted_size(void);
/* Stores the counts in the map, saturated to eight bits. */
QGM_HIDDEN void __quagmire_afl_fill_map(void);
/* The greeting of this program. */
QGM_HIDDEN uint32_t __quagmire_afl_hello(int takes_memory);

#endif
