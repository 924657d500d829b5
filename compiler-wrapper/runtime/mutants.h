/* Mutants of a program (QUAGMIRE_MUTANTS): what the passes write, and how `quagmire mutants` asks for runs. The numbers are
   mirrored by `fuzzer/crates/execution/src/fork_server/mutants.rs`, which a test there checks. What belongs to one kind of
   mutants is in faults.c (QUAGMIRE_MUTANTS=1) or in performance.c (QUAGMIRE_MUTANTS=performance). */
#pragma once

#include "quagmire.h"

/* Version of the requests and answers below, and of the table's text. */
#define QGM_MUTANTS_ABI 3

/* Variable by which `quagmire mutants` asks the program to serve, and the descriptors that it gets besides QGM_INPUT,
   QGM_REQUESTS and QGM_ANSWERS. */
#define QGM_MUTANTS_SERVE "QUAGMIRE_MUTANTS_SERVE"
#define QGM_MUTANTS_OUTPUT 192 /* the file for what a run writes to standard output and error */
#define QGM_MUTANTS_TABLE 193  /* the file for the text of the table */
#define QGM_MUTANTS_PROBES 194 /* the file with what probing runs note */

/* Variable by which a program runs one of its mutants, whoever has started it: an ID of `quagmire mutants list`. */
#define QGM_MUTANT "QUAGMIRE_MUTANT"

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

/* The record of a function (section __qgm_mutants or __qgm_performance). `state` is a struct qgm_mutant_state, or a struct
   qgm_performance_state; `texts` is the text that passes/mutants/table.h describes. */
struct qgm_mutant_function {
  void *state;
  const char *texts;
  uint32_t mutants;
  uint32_t bytes;
};

/* Kinds of mutants. */
enum qgm_mutants_kind {
  QGM_FAULTS = 0,      /* small faults: a probing run notes a byte for each mutant */
  QGM_PERFORMANCE = 1, /* places that could be slower: see performance.h */
};

/* First answer: the table is written. */
struct qgm_mutants_hello {
  uint64_t abi;
  uint64_t kind; /* enum qgm_mutants_kind */
  uint64_t functions;
  uint64_t mutants;
  uint64_t table_bytes;
};

/* Kinds of runs. */
enum qgm_mutants_run {
  QGM_RUN_ORIGINAL = 0,
  QGM_RUN_MUTANT = 1,
  QGM_RUN_PROBES = 2, /* a run with notes: of the original, or of performance mutants */
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

/* Records of one linked object. */
struct qgm_mutants_object {
  const struct qgm_mutant_function *start, *stop;
};

#define QGM_MUTANTS_OBJECTS 256
extern struct qgm_mutants_object __quagmire_mutant_objects[QGM_MUTANTS_OBJECTS] QGM_HIDDEN;
extern unsigned __quagmire_mutant_objects_count QGM_HIDDEN;

/* Adds the records of an object that is not known yet. */
QGM_HIDDEN void __quagmire_add_mutants(const struct qgm_mutant_function *start, const struct qgm_mutant_function *stop);
/* Number of functions and of mutants of the program. */
QGM_HIDDEN uint64_t __quagmire_mutant_functions(void);
QGM_HIDDEN uint64_t __quagmire_mutants(void);
/* Writes the text of the table to a file. Returns its length, or -1. */
QGM_HIDDEN int64_t __quagmire_write_mutants(int file);
/* Selects a mutant by the number of its function, and its own number there, for this process. */
QGM_HIDDEN void __quagmire_select_mutant(uint32_t function, uint32_t number);
/* Selects the mutant that QUAGMIRE_MUTANT names, if it is set; ends the process with a message if there is none. */
QGM_HIDDEN void __quagmire_select_named_mutant(void);

/* Of each kind of mutants: */
extern const enum qgm_mutants_kind __quagmire_mutants_kind QGM_HIDDEN;
/* Number of bytes that a probing run notes. */
QGM_HIDDEN uint64_t __quagmire_probe_bytes(void);
/* Has all functions of this process note what they do in shared memory. */
QGM_HIDDEN void __quagmire_probe_mutants(uint8_t *bytes);
/* Selects a mutant of a function for this process. */
QGM_HIDDEN void __quagmire_select_in(const struct qgm_mutant_function *function, uint32_t number);
