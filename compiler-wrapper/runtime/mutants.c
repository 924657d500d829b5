/* Linked into programs with mutants: their table, and the choice of one. Functions are numbered through all linked objects, in
   the order in which those were loaded. */
#include "machine.h"

#include "mutants.h"

struct qgm_mutants_object __quagmire_mutant_objects[QGM_MUTANTS_OBJECTS];
unsigned __quagmire_mutant_objects_count;

#define objects __quagmire_mutant_objects
#define count __quagmire_mutant_objects_count

void __quagmire_add_mutants(const struct qgm_mutant_function *start, const struct qgm_mutant_function *stop) {
  for (unsigned i = 0; i < count; i++)
    if (objects[i].start == start)
      return;
  if (start == stop || count == QGM_MUTANTS_OBJECTS)
    return;
  objects[count].start = start;
  objects[count++].stop = stop;
}

uint64_t __quagmire_mutant_functions(void) {
  uint64_t all = 0;
  for (unsigned i = 0; i < count; i++)
    all += (uint64_t)(objects[i].stop - objects[i].start);
  return all;
}

uint64_t __quagmire_mutants(void) {
  uint64_t all = 0;
  for (unsigned i = 0; i < count; i++)
    for (const struct qgm_mutant_function *f = objects[i].start; f != objects[i].stop; f++)
      all += f->mutants;
  return all;
}

int64_t __quagmire_write_mutants(int file) {
  int64_t length = 0;
  for (unsigned i = 0; i < count; i++)
    for (const struct qgm_mutant_function *f = objects[i].start; f != objects[i].stop; f++) {
      /* a form feed begins a function */
      if (transfer(file, "\f", 1, 0) != 0 || transfer(file, (void *)f->texts, f->bytes, 0) != 0)
        return -1;
      length += 1 + f->bytes;
    }
  return length;
}

void __quagmire_select_mutant(uint32_t function, uint32_t number) {
  for (unsigned i = 0; i < count; i++) {
    uint64_t here = (uint64_t)(objects[i].stop - objects[i].start);
    if (function < here) {
      __quagmire_select_in(objects[i].start + function, number);
      return;
    }
    function -= (uint32_t)here;
  }
}
