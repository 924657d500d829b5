/* Support for AFL++'s tools: converts the counts to AFL's map after each run. */
#pragma once

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

/* Diversity of the runs that one of AFL++'s tools asks for: unique traces, and Hill numbers of what they cover. */

/* Environment variable with the name of the file for the figures. */
#define QGM_DIVERSITY "QUAGMIRE_DIVERSITY"

/* Starts counting, if the environment asks for it. To be called by the server when it knows all edges. Ends the process if
   the file cannot be written. */
QGM_HIDDEN void __quagmire_diversity_start(void);
/* Adds a run that has ended, or stopped in its loop, with this wait status. To be called by the server before it clears the
   counts. */
QGM_HIDDEN void __quagmire_diversity_add(int status);
