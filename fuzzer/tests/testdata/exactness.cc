// The main of the random functions of tests/exactness/ir.rs, not instrumented. The first two bytes of the input say which
// function runs, the others how what it calls ends. With EXACT_TRUTH, how often each block was entered is written to that
// file, however the run ends.
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <unistd.h>

extern "C" {
extern uint64_t state, fuel, *where;
extern void (*const functions[])(void);
extern const uint64_t function_count, truth_count;
extern uint64_t *const truth[];
int step(void);
void sub(int which);
void die(void);
void set_jump(void *to);
}

static jmp_buf top;
static jmp_buf *jump = &top;
static uint64_t draws;
static int depth, ending;

static unsigned draw(unsigned limit) {
  draws = draws * 6364136223846793005u + 1442695040888963407u;
  return static_cast<unsigned>((draws >> 33) % limit);
}

static void tell() {
  const char *path = getenv("EXACT_TRUTH");
  FILE *file = path ? fopen(path, "w") : nullptr;
  if (!file)
    return;
  for (uint64_t i = 0; i < truth_count; i++)
    fprintf(file, "%llu\n", static_cast<unsigned long long>(*truth[i]));
  fclose(file);
}

static void crashed(int signal) {
  tell();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void set_jump(void *to) { jump = to ? static_cast<jmp_buf *>(to) : &top; }

// Those whose frames this leaves cannot be jumped to any more.
[[noreturn]] static void fly() {
  jump = &top;
  throw 1;
}

[[noreturn]] static void leave() {
  jmp_buf *to = jump;
  jump = &top;
  longjmp(*to, 1);
}

void die() {
  if (ending == 0)
    exit(3);
  if (ending == 1)
    abort();
  if (ending == 2)
    fly();
  leave();
}

int step() {
  if (static_cast<int64_t>(--fuel) < 0) {
    jump = &top;
    die();
  }
  unsigned what = draw(64);
  if (what < 3)
    fly();
  if (what < 6)
    leave();
  if (what >= 6 && what < 12)
    where = nullptr;
  if (what == 12 && draw(8) == 0)
    exit(4);
  return static_cast<int>(what);
}

void sub(int which) {
  if (static_cast<int64_t>(fuel) <= 0 || depth >= 6)
    return;
  depth++;
  functions[which]();
  depth--;
}

int main(int argc, char **argv) {
  unsigned char bytes[16] = {0};
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : nullptr;
  if (!file || fread(bytes, 1, sizeof bytes, file) == 0)
    return 1;
  fclose(file);
  memcpy(&state, bytes + 2, 8);
  memcpy(&draws, bytes + 8, 8);
  fuel = 300;
  ending = bytes[15] % 4;
  unsigned which = (bytes[0] + 256u * bytes[1]) % static_cast<unsigned>(function_count);
  if (getenv("EXACT_TRUTH"))
    for (int signal : {SIGSEGV, SIGABRT, SIGBUS})
      std::signal(signal, crashed);
  atexit(tell);
  try {
    if (setjmp(top) == 0)
      functions[which]();
  } catch (int) {
  }
  return 0;
}
