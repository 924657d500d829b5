/* Linked into harnesses: 8-bit counters of objects that others have compiled, made 32 bits wide. Clang and rustc increment such
   a counter by one instruction with its address, "addb $1, counter(%rip)" or "incb counter(%rip)"; the same instruction for 32
   bits is as long and differs in its first byte. So those that are found near the block that the PC table has for the counter
   are pointed at its slot, before the object's code runs. Counts are exact then, as guards' are, and without a call. A counter
   whose instruction is not found goes on in 8 bits. */
#include "machine.h"

#include "objects.h"
#include "sancov.h"

#include <string.h>

#if defined(__x86_64__)

/* How far from the start of its block an increment may be: compilers put it first, and move some. That a sequence of bytes
   is taken for an increment by chance is as good as impossible: six bytes of it have to agree. */
#define NEARBY 4096
/* Bytes of the longest sequence of instructions. */
#define LONGEST 18
/* How far an instruction's operand reaches, less a margin for what lies between the ends of code and slots. */
#define NEAR ((uintptr_t)(1u << 31) - (1u << 20))
/* Distance between places that are tried for slots. */
#define STEP ((uintptr_t)64 << 20)

/* The first executable part of a linked object, and what is usually allowed there. */
struct code {
  uintptr_t start, end;
  int protection;
};

/* A linked object. */
struct found {
  uintptr_t start, end;
  struct code code;
};

static void find(const struct dl_phdr_info *object, void *data) {
  struct found *found = data;
  __quagmire_bounds_of(object, &found->start, &found->end);
  for (int i = 0; i < object->dlpi_phnum && !found->code.start; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    uintptr_t start = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && part->p_flags & PF_X)
      found->code = (struct code){start, start + part->p_memsz, PROT_EXEC | (part->p_flags & PF_R ? PROT_READ : 0)};
  }
}

static struct found object_with(const void *inside) {
  struct found object = {0};
  __quagmire_with_object((uintptr_t)inside, find, &object);
  return object;
}

/* Maps memory at this address and nowhere else. */
static void *map_at(uintptr_t address, size_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void *memory = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  if ((uintptr_t)memory == address)
    return memory;
  munmap(memory, bytes);
  return NULL;
}

uint32_t *__quagmire_slots_near(const void *inside, size_t number) {
  struct found object = object_with(inside);
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), size = object.end - object.start;
  size_t bytes = (number * sizeof(uint32_t) + page - 1) / page * page;
  if (object.end == 0 || size + bytes + STEP > NEAR)
    return NULL;
  uintptr_t start = object.start / page * page, end = (object.end + page - 1) / page * page;
  uintptr_t room = (NEAR - size - bytes) / STEP * STEP;
  void *memory = NULL;
  for (uintptr_t away = STEP; !memory && away <= room && away + bytes < start; away += STEP)
    memory = map_at(start - away - bytes, bytes);
  /* as far above it as can be: the program's heap may grow there */
  for (uintptr_t away = room; !memory && away > 0; away -= STEP)
    memory = map_at(end + away, bytes);
  return memory;
}

static int protect(const struct code *code, int protection) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = code->start / page * page;
  return mprotect((void *)start, code->end - start, protection) == 0;
}

/* The address that an instruction with the distance `at` bytes on, and `length` bytes in all, accesses. */
static const uint8_t *operand(const uint8_t *code, int at, int length) {
  int32_t distance;
  memcpy(&distance, code + at, sizeof distance);
  return code + length + distance;
}

static void point(uint8_t *code, int at, int length, const uint32_t *slot) {
  int32_t distance = (int32_t)((intptr_t)slot - (intptr_t)(code + length));
  memcpy(code + at, &distance, sizeof distance);
}

/* Increment of a counter in the code. */
struct increment {
  const uint8_t *counter;
  int is_add; /* addb $1, counter; otherwise incb counter, or what has the same effect */
  int length;
};

/* Finds "movb counter, %r; addb $1, %r; movb %r, counter", which is what -O0 makes, with incb %r or addb. A register from %sil
   on needs a prefix in each. */
static int load_add_store_at(const uint8_t *code, struct increment *found) {
  int prefix = (code[0] & 0xfb) == 0x40;
  const uint8_t *load = code + prefix, *add = load + 6;
  if (load[0] != 0x8a || (load[1] & 0xc7) != 0x05)
    return 0;
  uint8_t in_register = 0xc0 | (load[1] & 0x38) >> 3;
  const uint8_t *store = add + prefix;
  if (add[0] == 0x04 && add[1] == 1 && in_register == 0xc0) /* %al */
    store += 2;
  else if (store[0] == 0xfe && store[1] == in_register)
    store += 2;
  else if (store[0] == 0x80 && store[1] == in_register && store[2] == 1)
    store += 3;
  store += prefix;
  *found = (struct increment){.counter = operand(load, 2, 6), .length = (int)(store + 6 - code)};
  return store[0] == 0x88 && store[1] == load[1] && operand(store, 2, 6) == found->counter;
}

/* Finds the increment that begins here. Returns whether there is one. */
static int increment_at(const uint8_t *code, struct increment *found) {
  if (code[1] == 0x05 && code[0] == 0xfe) {
    *found = (struct increment){.counter = operand(code, 2, 6), .length = 6};
    return 1;
  }
  if (code[1] == 0x05 && code[0] == 0x80 && code[6] == 1) {
    *found = (struct increment){.counter = operand(code, 2, 7), .is_add = 1, .length = 7};
    return 1;
  }
  return load_add_store_at(code, found);
}

static void redirect(uint8_t *code, const struct increment *increment, const uint32_t *slot) {
  int length = increment->is_add ? 7 : 6;
  code[0] = increment->is_add ? 0x83 : 0xff; /* addl $1, incl */
  code[1] = 0x05;
  point(code, 2, length, slot);
  memset(code + length, 0x90, (size_t)(increment->length - length));
}

int __quagmire_widen(const struct qgm_counters *counters) {
  struct found object = object_with(counters->start);
  struct code code = object.code;
  if (!code.start || !protect(&code, code.protection | PROT_READ | PROT_WRITE))
    return 0;
  uint8_t *is_widened = reserve(counters->number);
  for (uintptr_t at = code.start; is_widened && at + LONGEST <= code.end; at++) {
    struct increment found;
    if (!increment_at((const uint8_t *)at, &found))
      continue;
    size_t number = (uintptr_t)found.counter - (uintptr_t)counters->start;
    if (number >= counters->number || at - counters->blocks[number] + NEARBY > 2 * NEARBY)
      continue;
    redirect((uint8_t *)at, &found, &counters->slots[counters->places[number].slot]);
    is_widened[number] = 1;
  }
  protect(&code, code.protection);
  if (!is_widened)
    return 0;
  int all = 1;
  for (size_t i = 0; i < counters->number; i++) {
    /* a block that was optimised away has no address and does not count */
    int has_code = counters->blocks[i] >= object.start && counters->blocks[i] < object.end;
    all &= is_widened[i] || !has_code;
  }
  munmap(is_widened, counters->number);
  return all;
}

#else

uint32_t *__quagmire_slots_near(const void *inside, size_t number) {
  (void)inside, (void)number;
  return NULL;
}

int __quagmire_widen(const struct qgm_counters *counters) {
  (void)counters;
  return 0;
}

#endif
