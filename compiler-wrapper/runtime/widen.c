/* Linked into harnesses: 8-bit counters of objects that others have compiled, made 32 bits wide. Clang and rustc increment such
   a counter by one instruction with its address, "addb $1, counter(%rip)" or "incb counter(%rip)"; the same instruction for 32
   bits is as long and differs in its first byte. So one that is found where the PC table says that the block begins is pointed
   at a slot, before the object's code runs. Counts are exact then, as guards' are, and without a call. Whatever is not found
   goes on in 8 bits. */
#include "machine.h"

#include "objects.h"
#include "widen.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)

/* How far from its block's first byte an increment is looked for: compilers put it first, behind a function's prologue and
   what they move between registers. */
#define REACH 512
/* Bytes of the longest such sequence of instructions. */
#define LONGEST 14
/* How far an instruction's operand reaches, less a margin for what lies between the ends of code and slots. */
#define NEAR ((uintptr_t)(1u << 31) - (1u << 20))
/* Distance between places that are tried for slots. */
#define STEP ((uintptr_t)64 << 20)

/* A linked object, found by an address in it: all of it, and the first part that is code. */
struct found {
  uintptr_t inside, start, end;
  struct qgm_code code;
};

static int find(struct dl_phdr_info *object, size_t size, void *data) {
  struct found *found = data;
  (void)size;
  if (!__quagmire_object_holds(object, found->inside))
    return 0;
  found->start = UINTPTR_MAX;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD)
      continue;
    uintptr_t start = object->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
    found->start = start < found->start ? start : found->start;
    found->end = end > found->end ? end : found->end;
    if (part->p_flags & PF_X && !found->code.start)
      found->code = (struct qgm_code){start, end, PROT_EXEC | (part->p_flags & PF_R ? PROT_READ : 0)};
  }
  return 1;
}

static struct found object_with(uintptr_t inside) {
  struct found object = {.inside = inside};
  dl_iterate_phdr(find, &object);
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

uint32_t *__quagmire_slots_near(uintptr_t inside, size_t number) {
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

static int protect(const struct qgm_code *code, int protection) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = code->start / page * page;
  return mprotect((void *)start, code->end - start, protection) == 0;
}

int __quagmire_open_code(uintptr_t inside, struct qgm_code *code) {
  *code = object_with(inside).code;
  return code->start && protect(code, code->protection | PROT_READ | PROT_WRITE);
}

void __quagmire_close_code(const struct qgm_code *code) { protect(code, code->protection); }

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

/* Rewrites this instruction if it increments the counter. Returns whether it does. */
static int redirect(uint8_t *code, const uint8_t *counter, const uint32_t *slot) {
  static const uint8_t add_and_store[] = {0x04, 0x01, 0x88, 0x05}, nop[] = {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};
  if (code[1] != 0x05)
    return 0;
  if (code[0] == 0x80 && code[6] == 1 && operand(code, 2, 7) == counter) { /* addb $1 becomes addl $1 */
    code[0] = 0x83;
    point(code, 2, 7, slot);
    return 1;
  }
  if (code[0] == 0xfe && operand(code, 2, 6) == counter) { /* incb becomes incl */
    code[0] = 0xff;
    point(code, 2, 6, slot);
    return 1;
  }
  /* movb counter, %al; addb $1, %al; movb %al, counter of -O0 become incl and a nop */
  if (code[0] == 0x8a && operand(code, 2, 6) == counter && memcmp(code + 6, add_and_store, sizeof add_and_store) == 0 &&
      operand(code, 10, LONGEST) == counter) {
    code[0] = 0xff;
    point(code, 2, 6, slot);
    memcpy(code + 6, nop, sizeof nop);
    return 1;
  }
  return 0;
}

int __quagmire_widen(const struct qgm_code *code, const struct qgm_counter *wanted) {
  if (wanted->block < code->start || wanted->block >= code->end)
    return 0;
  uintptr_t last = code->end - wanted->block > REACH + LONGEST ? wanted->block + REACH : code->end - LONGEST;
  for (uintptr_t at = wanted->block; at <= last; at++)
    if (redirect((uint8_t *)at, wanted->counter, wanted->slot))
      return 1;
  return 0;
}

#else

uint32_t *__quagmire_slots_near(uintptr_t inside, size_t number) {
  (void)inside, (void)number;
  return NULL;
}

int __quagmire_open_code(uintptr_t inside, struct qgm_code *code) {
  (void)inside, (void)code;
  return 0;
}

void __quagmire_close_code(const struct qgm_code *code) { (void)code; }

int __quagmire_widen(const struct qgm_code *code, const struct qgm_counter *counter) {
  (void)code, (void)counter;
  return 0;
}

#endif
