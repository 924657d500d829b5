// Compiles the input as JavaScript, and runs it for a limited number of instructions. See README.md.
#include <duktape.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/accepted.h"
#include "../common/memory_budget.h"

// Checks of the engine, one every 4,096 instructions, until a script is stopped.
enum { CHECKS = 50 };

static int checks_left;

// Whether to stop: the engine asks. Once it is true, it stays true for this run.
int script_is_over(void) {
  if (checks_left > 0) --checks_left;
  return checks_left == 0;
}

static void *allocate(void *context, duk_size_t size) {
  (void)context;
  return size > 0 ? budgeted_realloc(NULL, size) : NULL;
}

static void *reallocate(void *context, void *block, duk_size_t size) {
  (void)context;
  if (size > 0) return budgeted_realloc(block, size);
  budgeted_free(block);
  return NULL;
}

static void release(void *context, void *block) {
  (void)context;
  budgeted_free(block);
}

struct input {
  const char *text;
  size_t size;
};

static duk_ret_t run(duk_context *context, void *argument) {
  const struct input *input = argument;
  // neither time nor random numbers: runs repeat themselves
  duk_push_global_object(context);
  duk_del_prop_string(context, -1, "Date");
  duk_del_prop_string(context, -1, "performance");
  duk_get_prop_string(context, -1, "Math");
  duk_del_prop_string(context, -1, "random");
  duk_pop_2(context);
  if (duk_pcompile_lstring(context, 0, input->text, input->size) != 0) return 0;
  accepted();
  duk_pcall(context, 0);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct input input = {(const char *)data, size};
  checks_left = CHECKS;
  duk_context *context = duk_create_heap(allocate, reallocate, release, NULL, NULL);
  if (!context) return 0;
  duk_safe_call(context, run, &input, 0, 0);
  checks_left = CHECKS; // for finalizers
  duk_destroy_heap(context);
  return 0;
}
