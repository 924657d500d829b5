/* Part of the fork server: a generator of the user's own in front of the program. It is a shared object that the server opens
   once. In each child it makes the input of the program from that of the run, just before the program goes on. */
#include "machine.h"

#include "draw_hooks.h"
#include "draws.h"
#include "run.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>

/* In libdl with older C libraries; nowhere in programs that are linked statically. */
extern __typeof(dlopen) dlopen __attribute__((weak));
extern __typeof(dlsym) dlsym __attribute__((weak));
extern __typeof(dlerror) dlerror __attribute__((weak));

/* As quagmire/draws.h declares qgm_generate. */
typedef size_t generate_function(const uint8_t *data, size_t size, uint8_t *out, size_t max);
#define INVALID ((size_t)-1)

static generate_function *generator;
/* The input of the run, shared with the fuzzer. */
static uint8_t *choices;
/* Room for the output of the generator. Behind it is a page that cannot be written to. */
static uint8_t *room;

static int refuse(const char *why) {
  snprintf(__quagmire_served->generator, sizeof __quagmire_served->generator, "%s", why ? why : "no reason is given");
  return 0;
}

int __quagmire_open_generator(void) {
  if (!__quagmire_served->generator[0])
    return 1;
  /* a program that is linked statically may be able to open it, and hides the hooks of draws from it */
  if (!dlopen || !dlsym || !dlerror || dlsym(RTLD_DEFAULT, "__quagmire_draw_hooks") != (void *)&__quagmire_draw_hooks)
    return refuse("the program can open no shared object: link it dynamically, and with -ldl if the C library needs that");
  /* what it counts is not the program's */
  __quagmire_ignores_objects = 1;
  void *object = dlopen(__quagmire_served->generator, RTLD_NOW | RTLD_LOCAL);
  __quagmire_ignores_objects = 0;
  generator = object ? (generate_function *)dlsym(object, "qgm_generate") : NULL;
  if (!generator)
    return refuse(dlerror());
  choices = mmap(NULL, QGM_INPUT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, QGM_CHOICES, 0);
  room = mmap(NULL, QGM_GENERATED_BYTES + QGM_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (choices == MAP_FAILED || room == MAP_FAILED || mprotect(room + QGM_GENERATED_BYTES, QGM_PAGE, PROT_NONE) != 0)
    return refuse("there is no memory for what it makes");
  return 1;
}

int __quagmire_has_generator(void) { return generator != NULL; }

/* Makes what was generated the whole contents of the input file. Returns whether that was possible. */
static int hand_over(size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t step = pwrite(QGM_INPUT, room + done, size - done, (off_t)done);
    if (step <= 0)
      return 0;
    done += (size_t)step;
  }
  /* standard input has the same offset */
  return ftruncate(QGM_INPUT, (off_t)size) == 0 && lseek(QGM_INPUT, 0, SEEK_SET) == 0;
}

void __quagmire_generate(const void *frame) {
  struct qgm_served *served = __quagmire_served;
  served->generating = 1;
  __quagmire_draw_from(choices, served->input_size, choices);
  size_t size = generator(choices, served->input_size, room, QGM_GENERATED_BYTES);
  __quagmire_end_draws();
  if (size == INVALID) {
    served->generating = 0;
    __quagmire_reject();
    __quagmire_leave(0);
  }
  /* `generating` stays: an error of the generator */
  if (size > QGM_GENERATED_BYTES || !hand_over(size))
    __quagmire_leave(1);
  served->generating = 0;
  served->input_size = size;
  __quagmire_keep_generated(room, size);
  __quagmire_begin_target(frame);
}
