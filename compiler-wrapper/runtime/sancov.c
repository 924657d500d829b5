/* Linked into harnesses: the callbacks of SanitizerCoverage, so that objects count which others have compiled. Each linked
   object with guards, 8-bit counters or flags becomes an object of __quagmire_modules. Its counts are 32-bit slots, laid out as
   the pass lays out its own: entry counts side by side, then the others. A slot has the weight 1. Comparisons are in
   comparisons.c. */
#include "machine.h"

#include "objects.h"
#include "sancov.h"

#include <dlfcn.h>

/* Address space of the slots of guards: 64 Mi edges. Memory is taken as they are used. */
#define MOST_SLOTS (1u << 26)
/* Slots of objects begin at multiples of this: the engine looks at 16 entry counts at a time. Those before the first
   object's are nobody's: guard 0 counts there. */
#define SLOT_ALIGNMENT 16

/* What can be stored for an 8-bit entry count that wrapped around to 0: the least that it can have been. */
#define WRAPPED 256

__thread uintptr_t __sancov_lowest_stack __attribute__((tls_model("initial-exec")));

/* Where guard 0 counts before there are slots. */
static uint32_t unread;
static uint32_t *slots = &unread;
static uint32_t used_slots;

/* A row of the PC table. */
struct pc {
  uintptr_t address, is_entry;
};

/* Guards, 8-bit counters or flags of a linked object. */
struct counted {
  uintptr_t base; /* address of the linked object */
  enum qgm_source source;
  void *start; /* of the guards or counters */
  uint32_t *slots; /* numbered as the places are: those of guards, or those near the object's code */
  uint32_t edges, first_slot;
  int is_registered;
  struct qgm_function *functions;
  uintptr_t *pcs;        /* null without a PC table */
  struct qgm_place *places;  /* of counters and flags */
};

static struct counted objects[QGM_MAX_MODULES];
static unsigned object_count;
static int is_waiting; /* some are not registered yet: their PC table may follow */
static int has_counters;
static struct {
  const struct pc *start, *stop;
  uintptr_t base;
} early; /* a PC table that came first */

/* A linked object: its name is empty for the program. */
struct linked {
  uintptr_t base;
  const char *name;
};

static void identify(const struct dl_phdr_info *object, void *linked) {
  *(struct linked *)linked = (struct linked){object->dlpi_addr, object->dlpi_name};
}

/* Takes slots for so many edges. Returns 0 if there are none left. */
static uint32_t take_slots(uint32_t edges) {
  if (used_slots == 0) {
    uint32_t *reserved = reserve(MOST_SLOTS * sizeof *slots);
    if (!reserved)
      return 0;
    slots = reserved;
    used_slots = SLOT_ALIGNMENT;
  }
  if (edges > MOST_SLOTS - SLOT_ALIGNMENT - used_slots)
    return 0;
  uint32_t first = used_slots;
  used_slots = (used_slots + edges + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
  return first;
}

/* Weights of functions with at most so many edges: each edge is one instruction and one edge. */
static const uint32_t *weights_for(uint32_t edges) {
  static uint32_t *ones, length;
  if (edges > length) {
    uint32_t *more = reserve(2 * (size_t)edges * sizeof *ones);
    if (!more)
      return NULL;
    for (size_t i = 0; i < 2 * (size_t)edges; i++)
      more[i] = 1;
    /* earlier functions go on using the shorter ones */
    ones = more;
    length = edges;
  }
  return ones;
}

/* Whether an edge begins a function. Without a PC table, each edge is a function of its own. */
static int begins(const struct pc *table, uint32_t edge) { return !table || edge == 0 || table[edge].is_entry & 1; }

/* Gives 8-bit counters slots that the object's code reaches, or others, and flags any. Returns whether there are some. */
static int take_slots_of_counters(struct counted *object, const struct pc *table) {
  object->slots = table && object->source == QGM_COUNTERS ? __quagmire_slots_near(object->start, object->edges) : NULL;
  if (object->slots)
    return 1;
  object->first_slot = take_slots(object->edges);
  object->slots = slots;
  return object->first_slot != 0;
}

/* Makes the records of an object's functions and gives guards and counters their slots. Returns the number of functions, 0
   if there is no memory. */
static uint32_t lay_out(struct counted *object, const struct pc *table) {
  uint32_t functions = 0, longest = 0, length = 0;
  for (uint32_t edge = 0; edge < object->edges; edge++) {
    length = begins(table, edge) ? 1 : length + 1;
    functions += length == 1;
    longest = length > longest ? length : longest;
  }
  const uint32_t *weights = weights_for(longest);
  object->functions = reserve(functions * sizeof *object->functions);
  object->pcs = table ? reserve(object->edges * sizeof *object->pcs) : NULL;
  if (object->source != QGM_GUARDS && take_slots_of_counters(object, table))
    object->places = reserve(object->edges * sizeof *object->places);
  if (!weights || !object->functions || (table && !object->pcs) || (object->source != QGM_GUARDS && !object->places))
    return 0;
  struct qgm_function *next = object->functions, *function = next;
  uint32_t entry = object->first_slot - 1, other = object->first_slot + functions;
  for (uint32_t edge = 0; edge < object->edges; edge++) {
    uint32_t slot;
    if (begins(table, edge)) {
      slot = ++entry;
      function = next++;
      *function = (struct qgm_function){.entry = &object->slots[slot], .counts = &object->slots[other], .weights = weights};
      function->address = table ? (const void *)table[edge].address : NULL;
    } else {
      slot = other++;
    }
    function->edges++;
    if (table)
      object->pcs[edge] = table[edge].address;
    if (object->source == QGM_GUARDS)
      ((uint32_t *)object->start)[edge] = slot;
    else
      object->places[edge] = (struct qgm_place){slot, entry};
  }
  struct qgm_counters counters = {object->start, object->edges, object->pcs, object->slots, object->places};
  if (object->source == QGM_COUNTERS && object->slots != slots && __quagmire_widen(&counters))
    object->source = QGM_WIDENED;
  return functions;
}

static void register_object(struct counted *object, const struct pc *table, int has_wrong_table) {
  object->is_registered = 1;
  uint32_t functions = lay_out(object, table);
  if (functions == 0) {
    __quagmire_modules.refused++;
    return;
  }
  has_counters |= object->places != NULL;
  __quagmire_register_module((struct qgm_module){
      .functions_start = object->functions,
      .functions_stop = object->functions + functions,
      .entries_start = &object->slots[object->first_slot],
      .entries_stop = &object->slots[object->first_slot] + functions,
      .pcs = object->pcs,
      .source = object->source,
      .has_wrong_table = (uint32_t)has_wrong_table,
  });
}

static void register_waiting(void) {
  is_waiting = 0;
  for (unsigned i = 0; i < object_count; i++)
    if (!objects[i].is_registered)
      register_object(&objects[i], NULL, 0);
}

static struct linked object_of(const void *start) {
  struct linked is = {0};
  __quagmire_with_object((uintptr_t)start, identify, &is);
  return is;
}

/* Whether these guards or counters are known, or those of another source that count the same. */
static int is_known(const struct counted *new) {
  for (unsigned i = 0; i < object_count; i++) {
    const struct counted *known = &objects[i];
    if (known->start == new->start)
      return 1;
    /* compiled with guards and counters: guards are exact, and clang registers them first; flags it registers last */
    if (!known->is_registered && known->source != new->source && new->source != QGM_GUARDS && known->edges == new->edges &&
        known->base == new->base)
      return 1;
  }
  return 0;
}

/* Adds guards or counters, unless they are known. They wait for their PC table. */
static void add(enum qgm_source source, void *start, size_t edges) {
  if (edges == 0 || edges >= MOST_SLOTS)
    return;
  struct linked is = object_of(start);
  struct counted object = {
      .base = is.base,
      .source = source,
      .start = start,
      .edges = (uint32_t)edges,
  };
  if (is_known(&object))
    return;
  /* a library stays mapped: after the run, when the target may have closed it, its counters are read and its functions named */
  int stays = !is.name || !is.name[0] || dlopen(is.name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  int has_room = stays && object_count < QGM_MAX_MODULES;
  if (has_room && source == QGM_GUARDS) {
    object.first_slot = take_slots(object.edges);
    object.slots = slots;
    has_room = object.first_slot != 0;
  }
  if (!has_room) {
    __quagmire_modules.refused++;
    return;
  }
  objects[object_count++] = object;
  for (uint32_t edge = 0; source == QGM_GUARDS && edge < edges; edge++)
    ((uint32_t *)start)[edge] = object.first_slot + edge;
  is_waiting = 1;
  if (early.start && early.base == is.base && (size_t)(early.stop - early.start) == edges)
    register_object(&objects[object_count - 1], early.start, 0);
  early.start = NULL;
}

/* Gives the guards or counters that wait for it a PC table. */
static void add_table(const struct pc *start, const struct pc *stop) {
  uintptr_t base = object_of(start).base;
  struct counted *waiting = NULL;
  for (unsigned i = 0; i < object_count; i++)
    if (!objects[i].is_registered && objects[i].base == base)
      waiting = &objects[i];
  if (waiting) {
    int fits = (size_t)(stop - start) == waiting->edges;
    register_object(waiting, fits ? start : NULL, !fits);
  } else {
    early.start = start;
    early.stop = stop;
    early.base = base;
  }
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) { add(QGM_GUARDS, start, (size_t)(stop - start)); }

void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop) { add(QGM_COUNTERS, start, (size_t)(stop - start)); }

/* Flags are counters that stay at 1. */
void __sanitizer_cov_bool_flag_init(uint8_t *start, uint8_t *stop) { add(QGM_FLAGS, start, (size_t)(stop - start)); }

void __sanitizer_cov_pcs_init(const struct pc *start, const struct pc *stop) {
  if (start != stop)
    add_table(start, stop);
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) { ++slots[*guard]; }

/* Adds an 8-bit counter or flag to its slot, and clears it. An entry that is 0 and ran counts as `least`. */
static void collect_one(const struct counted *object, uint32_t edge, uint32_t least) {
  uint8_t *counter = (uint8_t *)object->start + edge;
  const struct qgm_place *place = &object->places[edge];
  object->slots[place->slot] += *counter;
  *counter = 0;
  /* an entry comes before the other edges of its function, and ran if they did */
  if (object->slots[place->entry] == 0)
    object->slots[place->entry] = least;
}

typedef uint64_t unaligned_word __attribute__((aligned(1), may_alias));

static void collect(const struct counted *object) {
  uint8_t *counters = object->start;
  uint32_t at = 0, least = object->source == QGM_FLAGS ? 1 : WRAPPED;
  for (; at + 32 <= object->edges; at += 32) {
    const unaligned_word *words = (const unaligned_word *)(counters + at);
    if ((words[0] | words[1] | words[2] | words[3]) == 0)
      continue;
    for (uint32_t i = at; i < at + 32; i++)
      if (counters[i])
        collect_one(object, i, least);
  }
  for (; at < object->edges; at++)
    if (counters[at])
      collect_one(object, at, least);
}

/* gcc's trace-pc: neither guards nor tables, only return addresses. Each is counted in one of these, by its hash. */
#define PC_SLOTS 65536
static uint32_t pc_slots[PC_SLOTS] __attribute__((aligned(64)));
static struct qgm_function *pc_functions; /* null until something was counted */
static int pcs_are_registered;

static struct qgm_function *make_pc_functions(void) {
  struct qgm_function *functions = reserve(PC_SLOTS * sizeof *functions);
  const uint32_t *weights = weights_for(1);
  for (uint32_t i = 0; functions && i < PC_SLOTS; i++)
    functions[i] = (struct qgm_function){.entry = &pc_slots[i], .weights = weights, .edges = 1};
  return functions;
}

/* Notes the address of a slot that was 0. */
static __attribute__((noinline)) void note_pc(uint32_t slot, uintptr_t pc) {
  if (!pc_functions)
    pc_functions = make_pc_functions();
  /* the instruction of the call: the one behind it may be in another function */
  if (pc_functions)
    pc_functions[slot].address = (const void *)(pc - 1);
}

void __sanitizer_cov_trace_pc(void) {
  uintptr_t pc = (uintptr_t)__builtin_return_address(0);
  /* the distance is the same wherever the program is mapped */
  uint64_t hash = (pc - (uintptr_t)&__sanitizer_cov_trace_pc) * 0x9e3779b97f4a7c15u;
  uint32_t slot = (uint32_t)(hash >> 48);
  if (++pc_slots[slot] == 1)
    note_pc(slot, pc);
}

static void register_pcs(void) {
  pcs_are_registered = 1;
  if (!pc_functions)
    pc_functions = make_pc_functions();
  if (pc_functions)
    __quagmire_register_module((struct qgm_module){
        .functions_start = pc_functions,
        .functions_stop = pc_functions + PC_SLOTS,
        .entries_start = pc_slots,
        .entries_stop = pc_slots + PC_SLOTS,
        .source = QGM_PCS,
    });
}

/* Whether an executable part of the program calls __sanitizer_cov_trace_pc: nothing else tells before it runs. */
static int calls_trace_pc(struct dl_phdr_info *program, size_t size, void *data) {
  int *calls = data;
  uintptr_t wanted = (uintptr_t)&__sanitizer_cov_trace_pc;
  (void)size, (void)wanted;
  for (int i = 0; i < program->dlpi_phnum && !*calls; i++) {
    const ElfW(Phdr) *part = &program->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & (PF_R | PF_X)) != (PF_R | PF_X))
      continue;
    const uint8_t *at = (const uint8_t *)(program->dlpi_addr + part->p_vaddr), *end = at + part->p_filesz;
#if defined(__x86_64__)
    typedef int32_t distance __attribute__((aligned(1), may_alias));
    for (; at + 5 <= end && !*calls; at++)
      *calls = *at == 0xe8 && (uintptr_t)(at + 5) + (uintptr_t)(intptr_t)*(const distance *)(at + 1) == wanted;
#elif defined(__aarch64__)
    for (; at + 4 <= end && !*calls; at += 4) {
      uint32_t word = *(const uint32_t *)at;
      *calls = word >> 26 == 0x25 && (uintptr_t)at + (uintptr_t)((intptr_t)(int32_t)(word << 6) >> 4) == wanted;
    }
#else
    (void)end;
#endif
  }
  return 1; /* the program is the first object */
}

/* Objects of Zig's -ffuzz have counters and the addresses of their blocks, but nobody who tells of them: Zig's own fuzzer looks at
   these sections of the program. No address is known to begin a function: each is a function of its own. */
extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];
extern uintptr_t __start___sancov_pcs1[], __stop___sancov_pcs1[];
#pragma weak __start___sancov_cntrs
#pragma weak __stop___sancov_cntrs
#pragma weak __start___sancov_pcs1
#pragma weak __stop___sancov_pcs1

static void add_untold(void) {
  size_t edges = (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs), known = object_count;
  if (!__start___sancov_pcs1 || edges != (size_t)(__stop___sancov_pcs1 - __start___sancov_pcs1))
    return;
  add(QGM_COUNTERS, __start___sancov_cntrs, edges);
  struct pc *table = object_count > known ? reserve(edges * sizeof *table) : NULL;
  for (size_t i = 0; table && i < edges; i++)
    table[i] = (struct pc){__start___sancov_pcs1[i], 1};
  if (table)
    register_object(&objects[known], table, 0);
}

void __quagmire_sancov_start(void) {
  add_untold();
  register_waiting();
  int calls = 0;
  if (__quagmire_modules.count == 0)
    dl_iterate_phdr(calls_trace_pc, &calls);
  if (calls)
    register_pcs();
}

void __quagmire_sancov_collect(void) {
  if (is_waiting)
    register_waiting();
  if (pc_functions && !pcs_are_registered)
    register_pcs();
  for (unsigned i = 0; has_counters && i < object_count; i++)
    if (objects[i].places)
      collect(&objects[i]);
}
