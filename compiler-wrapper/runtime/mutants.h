/* Mutants of a program (QUAGMIRE_MUTANTS=1): what the pass writes, and how `quagmire mutants` asks for runs. The numbers are
   mirrored by `fuzzer/crates/execution/src/fork_server/mutants.rs`, which a test there checks. */
#ifndef QUAGMIRE_MUTANTS_H
#define QUAGMIRE_MUTANTS_H

#include "quagmire.h"

/* Version of the requests and answers below, and of the table's text. */
#define QGM_MUTANTS_ABI 1

/* Variable by which `quagmire mutants` asks the program to serve, and the descriptors that it gets besides QGM_INPUT,
   QGM_REQUESTS and QGM_ANSWERS. */
#define QGM_MUTANTS_SERVE "QUAGMIRE_MUTANTS_SERVE"
#define QGM_MUTANTS_OUTPUT 192 /* the file for what a run writes to standard output and error */
#define QGM_MUTANTS_TABLE 193  /* the file for the text of the table */
#define QGM_MUTANTS_PROBES 194 /* the file with a byte for each mutant, for probing runs */

/* Most mutants that a request may select. */
#define QGM_MUTANTS_SELECTED 4096

/* Number of the probing copy among those of a function. */
#define QGM_PROBES UINT32_MAX

/* What a function looks at (section __qgm_mutant_state): `selected` is 0 for the original, k + 1 for its mutant k, or
   QGM_PROBES; `probes` points to the bytes of its mutants. */
struct qgm_mutant_state {
  uint8_t *probes;
  uint32_t selected;
  uint32_t reserved;
};

/* The record of a function (section __qgm_mutants). `texts` is the text that passes/mutants/table.h describes. */
struct qgm_mutant_function {
  struct qgm_mutant_state *state;
  const char *texts;
  uint32_t mutants;
  uint32_t bytes;
};

/* First answer: the table is written. */
struct qgm_mutants_hello {
  uint64_t abi;
  uint64_t functions;
  uint64_t mutants;
  uint64_t table_bytes;
};

/* Kinds of runs. */
enum qgm_mutants_run {
  QGM_RUN_ORIGINAL = 0,
  QGM_RUN_MUTANT = 1,
  QGM_RUN_PROBES = 2,
};

/* A request; behind it, `selected` pairs of u32: function and number of a mutant. */
struct qgm_mutants_request {
  uint64_t run;          /* enum qgm_mutants_run */
  uint64_t cpu_ns;       /* limit of CPU time */
  uint64_t wall_ns;      /* limit of time, for runs that sleep */
  uint64_t memory_bytes; /* limit of memory, or 0 */
  uint64_t selected;
};

/* How a run ended. */
struct qgm_mutants_answer {
  uint64_t status;    /* as waitpid tells */
  uint64_t timed_out; /* it was killed at a limit of time */
  uint64_t cpu_ns;
  uint64_t rejected;  /* the harness returned -1 */
  uint64_t observed;  /* hash of what it has shown by qgm_observe */
};

/* What a run leaves for its server. */
struct qgm_mutants_shared {
  volatile uint64_t rejected;
  volatile uint64_t observed;
};

extern struct qgm_mutants_shared *__quagmire_mutants_shared QGM_HIDDEN;

/* Number of functions and of mutants of the program. */
QGM_HIDDEN uint64_t __quagmire_mutant_functions(void);
QGM_HIDDEN uint64_t __quagmire_mutants(void);
/* Writes the text of the table to a file. Returns its length, or -1. */
QGM_HIDDEN int64_t __quagmire_write_mutants(int file);
/* Selects a mutant of a function for this process. */
QGM_HIDDEN void __quagmire_select_mutant(uint32_t function, uint32_t number);
/* Has all functions of this process run their probing copies. */
QGM_HIDDEN void __quagmire_probe_mutants(uint8_t *bytes);

#endif
