/* The interface of compiler pass, runtime and engine, mirrored by `fuzzer/crates/execution/src/abi.rs`. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Version, increased with every change of a layout or meaning below: engine and runtime accept no other one. */
#define QGM_ABI 16

/* Attribute of what only files of the runtime share: it is no symbol of the linked program. */
#define QGM_HIDDEN __attribute__((visibility("hidden")))

/* The record of one function, written by the pass (section __qgm_funcs). Edge 0 is the entry, counted in *entry; edge i > 0
   is counted in counts[i - 1]. The last `charges` of the `edges` are not edges but instructions charged for calls of the C
   library (see passes/library_costs.h), and the last `memory` of these are bytes: how deep the stack was where the function was
   entered, and what each of its calls of an allocator got (see passes/memory.h). The `progress` before the charges are progress slots of comparisons, 0 or 1 (see
   passes/compares.h). `weights` holds, for each edge that is neither, the instructions that one execution stands
   for, and after those of all edges, the number of edges counted with it: some have no counter of their own. `lines` and
   `sums` are distances in bytes from this record to the table of source lines (section __qgm_lines, see passes/lines.h; 0
   without debug information) and to the table of derived counts (section __qgm_sums, see passes/counts.cc; 0 if there are
   none). Distances need no relocation when the program starts. */
struct qgm_function {
  uint32_t *entry;
  uint32_t *counts;
  const uint32_t *weights;
  const void *address;
  uint32_t edges;
  int32_t lines;
  uint32_t progress;
  int32_t sums;
  uint32_t charges;
  uint32_t memory;
};

/* What counts in an object. */
enum qgm_source {
  QGM_PASS = 0,     /* the pass */
  QGM_GUARDS = 1,   /* SanitizerCoverage's guards: exact counts */
  QGM_COUNTERS = 2, /* its 8-bit counters, which wrap around */
  QGM_PCS = 3,      /* its return addresses, without a table, some of which share a count */
  QGM_EXTRA = 4,    /* counters of the harness's own, beside one of the others */
  QGM_WIDENED = 5,  /* 8-bit counters that count in 32 bits: exact counts, see widen.c */
  QGM_FLAGS = 6,    /* its flags, 0 or 1 for each edge */
};

/* The tables of one linked object: the executable, or a shared library. Those for SanitizerCoverage are made by sancov.c. */
struct qgm_module {
  const struct qgm_function *functions_start, *functions_stop;
  uint32_t *entries_start, *entries_stop;
  const uintptr_t *pcs; /* addresses of all edges, function by function; null for the pass, and without a PC table */
  uint32_t source;      /* enum qgm_source */
  uint32_t has_wrong_table; /* there is a PC table, but for another number of edges */
};

#define QGM_MAX_MODULES 256

/* All registered objects. `generation` is incremented twice with every change, so that it is odd during one. An object that
   is opened again keeps its place; while it is closed, a copy with its counts is there, or null pointers. */
struct qgm_modules {
  volatile uint64_t generation;
  uint64_t count;
  uint64_t refused; /* registrations refused because the list was full */
  uint64_t reading; /* set by the engine while its timer reads counts: objects are not unmapped meanwhile */
  struct qgm_module module[QGM_MAX_MODULES];
};

extern struct qgm_modules __quagmire_modules;

/* Whether objects that are loaded now stay out of the list. */
extern int __quagmire_ignores_objects QGM_HIDDEN;

/* Adds the tables of an object that is not known yet. */
QGM_HIDDEN void __quagmire_register_module(struct qgm_module module);

/* Gives objects that are closed by now new places when they are opened again. */
QGM_HIDDEN void __quagmire_forget_closed(void);

/* Kinds of operands of `__quagmire_compare` and `__quagmire_common`: bits of their last argument. */
enum qgm_compared {
  QGM_TEXT = 1, /* C strings, which a zero byte ends */
  QGM_FOLD = 2, /* ASCII letters compare without case */
};

/* How a run of the target ended. */
enum qgm_status {
  QGM_RETURNED = 0, /* the target returned */
  QGM_REJECTED = 1, /* it returned -1: do not keep this input */
  QGM_CRASHED = 2,  /* a signal or a sanitizer's report ended it */
  QGM_HUNG = 3,     /* cut off at the hang timeout */
  QGM_MEMORY = 4,   /* cut off above the memory limit */
  QGM_EXITED = 5,   /* it called exit, _exit, _Exit or quick_exit */
};

/* Why the last run ended early. */
struct qgm_event {
  int64_t signal;    /* of a crash; 0 for a sanitizer's report */
  int64_t exit_code; /* of an exit; with QGM_MEMORY, the bytes of the allocation that was too large, or 0 */
  uint64_t pc;       /* address of the crashing instruction; 0 if unknown */
  uint64_t address;  /* memory address whose access crashed */
};

/* Resources that the last run used, however it ended. */
struct qgm_resources {
  uint64_t cycles;     /* ticks of the time-stamp counter */
  uint64_t heap_peak;  /* peak of the allocated bytes */
  uint64_t heap_total; /* sum of all allocated bytes */
  uint64_t stack;      /* deepest stack of the thread that ran the target, in bytes */
  uint64_t time_ns;    /* CPU time, if the target ran in a process of its own; otherwise 0: the engine's clocks tell */
  uint64_t threads;    /* that the run has started, or an earlier one, and that go on after it for the first time */
};

/* Heap use of the current run; maintained by heap.c, or by hooks of a sanitizer. */
struct qgm_heap {
  int64_t counting; /* nonzero during a run */
  int64_t current; /* negative if memory of earlier runs was freed */
  int64_t peak;
  uint64_t total;
};

/* Points into shared memory in a fork server. */
extern struct qgm_heap *__quagmire_heap QGM_HIDDEN;

/* Counts an allocation: `used` bytes of the heap, of which `asked` were requested. */
static inline void __quagmire_heap_take(size_t used, size_t asked) {
  __quagmire_heap->current += (int64_t)used;
  if (__quagmire_heap->current > __quagmire_heap->peak)
    __quagmire_heap->peak = __quagmire_heap->current;
  __quagmire_heap->total += asked;
}

/* Lowest stack pointer of this thread in the current run, if it is the runner: the pass updates it at the entry of functions
   that call others or have large frames. 0 in all other threads, so that it is never updated there. Each instrumented
   object defines it; linkers merge the definitions. */
extern __thread uintptr_t __quagmire_lowest_stack __attribute__((tls_model("initial-exec")));
/* Where the stack of this thread begins in the current run; 0 in all other threads. Defined in the same way. */
extern __thread uintptr_t __quagmire_highest_stack __attribute__((tls_model("initial-exec")));

/* Makes this thread the runner, whose stack begins there; 0 ends that. */
static inline void __quagmire_begin_stack(uintptr_t top) { __quagmire_lowest_stack = __quagmire_highest_stack = top; }

/* Memory shared by a fork server and the fuzzer that started it: a memory file whose descriptor is in the environment
   variable QGM_SERVE. It begins with struct qgm_served; struct qgm_draws, struct qgm_comparisons and the counts of all objects follow, page by page. Requests and answers
   are words in pipes with the descriptors of AFL's protocol. A request is the number of a run. The process that makes the
   run answers when it has ended: the server, or a child in its loop (__AFL_LOOP), which then waits for the next request. */
#define QGM_SERVE "QUAGMIRE_SERVE"
#define QGM_CHOICES 195  /* the file with the input of a generator, which makes that of the program */
#define QGM_INPUT 196    /* the file with the input */
#define QGM_REQUESTS 198 /* read by the server */
#define QGM_ANSWERS 199  /* written by it */
/* The largest page of this machine's systems, to which counts in shared memory are aligned. */
#if defined(__aarch64__)
#define QGM_PAGE 65536
#else
#define QGM_PAGE 4096
#endif
#define QGM_SMALLEST_PAGE 4096 /* what is in one can be read if a part of it can */
#define QGM_INPUT_BYTES (1 << 30) /* what a target that takes its input from memory has mapped: the most that it gets */

/* Counts of an object: `length` bytes at `address` are at `offset` of the file. */
struct qgm_region {
  uint64_t address, length, offset;
};

enum qgm_ready {
  QGM_READY = 1,
  QGM_NOT_SHARED = 2, /* counts do not begin and end at pages: an object that quagmire-cc did not link */
  QGM_NO_MEMORY = 3,
  QGM_UNCOUNTED = 4, /* there are objects that SanitizerCoverage counts */
  QGM_NO_GENERATOR = 5, /* the generator cannot be used */
};

/* How a run ended that a child answered for in its loop. */
enum qgm_looped {
  QGM_ENDED = 0,       /* the child has ended: `status` says how */
  QGM_WENT_ROUND = 1,  /* the round is complete */
  QGM_WENT_REJECT = 2, /* the target rejects the input */
  QGM_STARTED = 3,     /* no run yet: the child has reached its loop and completed one round. Ask again */
};

/* Value of `status` if no process could be forked. */
#define QGM_NO_CHILD UINT64_MAX

/* A round of a loop that takes less is timed by its cycles: reading the CPU time would take longer than it is exact. */
#define QGM_SHORT_CYCLES 50000

#define QGM_PATH_BYTES 4096
#define QGM_LIBRARIES_BYTES 65536

/* Tables in the server's own memory, of which children have copies. The fuzzer reads them there. */
struct qgm_server {
  uint64_t modules; /* address of struct qgm_modules */
  uint64_t bytes; /* length of the file */
  uint64_t region_count;
  struct qgm_region region[2 * QGM_MAX_MODULES];
};

/* Header of the shared memory. Children write to it, and so may the target, by mistake or not: neither fuzzer nor server
   relies on values that it cannot check. Addresses are read before the first run only. */
struct qgm_served {
  uint64_t abi;
  uint64_t ready; /* enum qgm_ready; the server says hello in any case */
  uint64_t server; /* address of struct qgm_server in the server */
  uint64_t lowest_stack; /* address of __quagmire_lowest_stack in children: of one that is killed, the fuzzer reads it before */
  uint64_t takes_memory; /* the target reads its input in memory: a mapping of QGM_INPUT */
  uint64_t input_size;   /* set by the fuzzer before a request, and by a generator, which gets that and makes another */
  uint64_t wanted;       /* set by the fuzzer before a request: its number */
  uint64_t answered;     /* number of the last answer; set by the fuzzer too */
  volatile uint64_t child; /* the process that runs, or waits in its loop; 0 if there is none */
  uint64_t looped;       /* enum qgm_looped */
  uint64_t status;       /* wait status */
  uint64_t began; /* time stamp of the start of the run */
  uint64_t cpu_began; /* CPU time of the child then, in nanoseconds */
  uint64_t measured; /* the child has stored cycles and time_ns itself */
  uint64_t pc, address; /* where it crashed, if the target has no handler of its own; otherwise 0 */
  uint64_t top; /* address of the stack where the run begins */
  uint64_t stack;
  uint64_t cycles;
  uint64_t time_ns; /* CPU time of the child; 0 if it took so little that the cycles say more */
  struct qgm_heap heap;
  uint64_t opening; /* set by the fuzzer: the next request is to open the libraries that children have opened, and no run */
  uint64_t libraries_locked; /* lock of the list */
  volatile uint64_t libraries_end; /* length of the list in bytes */
  uint64_t library_opens;  /* whether the last library could be opened */
  uint64_t generating; /* the generator has not returned, or failed: however the run ended, the program did nothing */
  char generator[QGM_PATH_BYTES]; /* its path, set by the fuzzer, or empty; with QGM_NO_GENERATOR, why */
  char libraries[QGM_LIBRARIES_BYTES]; /* paths, zero-terminated */
};

/* Where struct qgm_draws and struct qgm_comparisons are in the shared memory, and where the counts begin. */
#define QGM_IN_PAGES(bytes) (((bytes) + QGM_PAGE - 1) / QGM_PAGE * QGM_PAGE)
#define QGM_DRAWS_OFFSET QGM_IN_PAGES(sizeof(struct qgm_served))
#define QGM_COMPARISONS_OFFSET (QGM_DRAWS_OFFSET + QGM_IN_PAGES(sizeof(struct qgm_draws)))
#define QGM_SERVED_BYTES (QGM_COMPARISONS_OFFSET + QGM_IN_PAGES(sizeof(struct qgm_comparisons)))

/* A call of the harness's own mutator or crossover. The mutator changes `size` bytes at `out`. */
struct qgm_mutation {
  const uint8_t *data, *other; /* the inputs of a crossover, of `size` and `other_size` bytes */
  uint8_t *out;                /* room for `max_size` bytes */
  uint64_t size;               /* afterwards that of the result, as the harness has returned it */
  uint64_t other_size;
  uint64_t max_size;
  uint64_t seed;
};

typedef enum qgm_status qgm_mutate_function(struct qgm_mutation *);

#define QGM_OPERAND_BYTES 32
#define QGM_MAX_COMPARISONS 2048
#define QGM_WITH_SIZES 2

/* Kinds of operands of a comparison, or of what else decides what a run does. */
enum qgm_operands {
  QGM_NUMBERS = 0, /* numbers or bit patterns in this machine's byte order */
  QGM_BYTES = 1,   /* the first bytes of memory or of strings, without the zero byte that ends them */
  QGM_SIZE = 2,    /* no comparison: the first one is a number of bytes that was allocated */
};

/* Two operands that were compared, and were not equal. What is not used of `operand` is zero. */
struct qgm_comparison {
  uint8_t kind;        /* enum qgm_operands */
  uint8_t is_constant; /* the first one is a constant of the program */
  uint8_t size[2];     /* of each in bytes; numbers have the same */
  uint32_t place;      /* hash of the place in the program */
  uint8_t operand[2][QGM_OPERAND_BYTES];
};

#define QGM_HASHED_BYTES 112
#define QGM_MAX_HASHES 4096

/* Kinds of hashes. */
enum qgm_hash_kind {
  QGM_STATE = 0,    /* what a loop over bytes has made */
  QGM_FINAL = 1,    /* what arithmetic has made of that, where it is used */
  QGM_REDUCED = 2,  /* a number that is divided, for the remainder: `bytes` begins with the divisor */
};

/* A number that the program has made of bytes. What is not used of `bytes` is zero. */
struct qgm_hash {
  uint64_t value;
  uint32_t place; /* hash of the place in the program */
  uint8_t kind;   /* enum qgm_hash_kind */
  uint8_t size;   /* of `bytes` */
  uint8_t bytes[QGM_HASHED_BYTES + 2]; /* what was there from where the first byte was read, further than the loop has read too */
};

/* Comparisons and hashes of one run. Recording is off in ordinary runs. Under the fork server it is behind struct qgm_draws in the shared
   memory. */
struct qgm_comparisons {
  uint64_t are_called;   /* set at the first comparison that the target shows in a run, recording or not */
  uint64_t are_hashed;   /* set at the first loop that makes a hash, in a run that is recorded or before a comparison was seen */
  uint64_t is_recording; /* set by the engine: 1, or QGM_WITH_SIZES to record sizes of allocations too */
  uint64_t count;        /* of the used items, and of those that found no room; cleared by the engine, as hash_count */
  struct qgm_comparison comparison[QGM_MAX_COMPARISONS];
  uint64_t hash_count; /* as count */
  uint64_t hash_place; /* set by the engine: the only place whose hashes are recorded, or 0 for all */
  struct qgm_hash hash[QGM_MAX_HASHES];
};

#define QGM_MAX_DRAWS 65536
#define QGM_MAX_OVERLAY_ITEMS 16384
#define QGM_OVERLAY_BYTES (1 << 20)
#define QGM_GENERATED_BYTES (1 << 20)
#define QGM_ELSEWHERE UINT32_MAX

/* A draw: a call of FuzzedDataProvider or of quagmire/draws.h. Mirrored by `fuzzer/crates/choices/src/draws/draw.rs`. */
struct qgm_draw {
  uint64_t site;  /* return address, relative to where its object is loaded; of QGM_DRAW_OPEN, the hash of the name */
  uint64_t key;   /* hash of the parts around it, the site, the kind, and how often that was reached in its part */
  uint64_t range; /* as in struct qgm_draw_call; 0 for QGM_DRAW_OPEN */
  uint64_t value; /* the value minus the smallest one, or a hash of the bytes that it took */
  uint32_t offset; /* in the input, of the first of its bytes; QGM_ELSEWHERE if they are not in the input */
  uint32_t length; /* number of bytes that it took */
  uint32_t part;   /* number of the first draw of its part */
  uint16_t depth;  /* number of parts around it */
  uint8_t kind;    /* enum qgm_draw_kind */
  uint8_t is_overlaid; /* the overlay has set its bytes */
};

/* Bytes for the draw with a key. */
struct qgm_overlay_item {
  uint64_t key;
  uint32_t start, length; /* in the bytes of the overlay */
};

/* Draws of one run, and bytes that they are to take. The engine writes is_recording, and items before a run. Under the fork
   server it is behind struct qgm_served in the shared memory. */
struct qgm_draws {
  uint64_t are_used;     /* set at the first draw, recording or not, and if a header that draws was compiled in */
  uint64_t is_recording; /* set by the engine */
  uint64_t count;        /* of the draws of the run, also of those that found no room */
  uint64_t items;        /* of the overlay, sorted by key; if there are any, the run is recorded */
  uint64_t generated;    /* 0, or one more than the number of bytes that the generator has made */
  uint64_t generator_cycles; /* ticks of the time-stamp counter that it took; 0 in processes of their own */
  struct qgm_draw draw[QGM_MAX_DRAWS];
  struct qgm_overlay_item item[QGM_MAX_OVERLAY_ITEMS];
  uint8_t overlay[QGM_OVERLAY_BYTES];
  uint8_t made[QGM_GENERATED_BYTES]; /* the beginning of what the generator has made, if the run is recorded */
};

/* The functions and tables that a harness hands to the engine. */
struct qgm_harness {
  uint64_t abi;
  struct qgm_modules *modules;
  int (*initialize)(void); /* calls LLVMFuzzerInitialize, if the harness has one */
  /* Runs the target once and returns whatever happens in it. */
  enum qgm_status (*run)(const uint8_t *data, size_t size);
  struct qgm_event *event;
  /* Installs the signal handlers (on their own stack) for this thread. `callback` is called from a signal handler every
     `interval_ns`, with the number of ticks in this run so far, or 0 between runs: it returns QGM_RETURNED to go on, or
     the status that ends the run. */
  void (*guard)(uint64_t interval_ns, enum qgm_status (*callback)(uint64_t ticks_in_run));
  /* Number of timer ticks in the current or last run; 0 if it fell between two ticks. */
  volatile uint64_t *ticks_in_run;
  const struct qgm_resources *resources; /* valid after a run */
  /* Mutation by the harness's own functions, under the same guard as a run; null if it has none. `event` says why one
     ended early. */
  qgm_mutate_function *mutate;
  qgm_mutate_function *cross_over;
  /* Makes whatever ends a run end this process, as it does under libFuzzer; to be called before guard. `ended` is called
     where the run ends, and does not return. Reports and exit codes of sanitizers stay theirs. */
  void (*end_process)(void (*ended)(enum qgm_status status, const struct qgm_event *event));
  /* Ends runs that allocate this many bytes or more at once, with QGM_MEMORY. Only sanitizers tell. */
  void (*limit_allocations)(uint64_t bytes);
  struct qgm_comparisons *comparisons;
  uint64_t is_sanitized; /* nonzero if a sanitizer is linked, which reports errors itself */
  struct qgm_draws *draws;
};
