// Shapes of control flow that compilers and counters get wrong, one for each first byte; the rest of the input decides.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;
static jmp_buf out;
static unsigned char bytes[4096];
static size_t length, at;

static int next(void) { return at < length ? bytes[at++] : 0; }

__attribute__((noinline)) static void work(int c) {
  if (c == 0xee)
    longjmp(out, 1);
  if (c == 0xef)
    exit(5);
  sink += c;
}

// The only way out of the loop is behind a continue.
static void blanks(void) {
  for (;;) {
    int c = next();
    if (c == ' ')
      continue;
    work(c);
    if (c == 0)
      break;
  }
}

// No way out but through what is called.
static void endless(void) {
  for (;;) {
    int c = next();
    if (c & 1)
      sink += 2;
    else
      sink -= c;
    switch (c >> 4) {
    case 0: longjmp(out, 2);
    case 1: work(c); break;
    case 2: work(0xee); break;
    default: sink++;
    }
  }
}

static void computed(void) {
  static void *const where[] = {&&stop, &&add, &&twice, &&add};
  int c = next();
  goto *where[c & 3];
add:
  sink += 1;
  c = next();
  goto *where[c & 3];
twice:
  sink += 2;
  work(c);
  c = next();
  goto *where[c & 3];
stop:
  sink++;
}

static void assembly(void) {
  for (int c = next(); c; c = next()) {
#ifdef __aarch64__
    asm goto("tst %w0, #0x80\n\tb.ne %l1\n\tcmp %w0, #7\n\tb.eq %l2" : : "r"(c) : "cc" : negative, seven);
#else
    asm goto("test %0, %0\n\tjs %l1\n\tcmp $7, %0\n\tje %l2" : : "r"((signed char)c) : "cc" : negative, seven);
#endif
    sink++;
    continue;
  negative:
    sink += 2;
    continue;
  seven:
    work(c);
  }
}

static void again(void) {
  jmp_buf here;
  volatile int left = 3;
  int came = setjmp(here);
  if (came == 2)
    sink += 5;
  while (next() & 1)
    work(came);
  if (left-- > 0)
    longjmp(here, next() & 3);
}

// Two ways into one loop.
static void irreducible(void) {
  int c = next();
  if (c & 1)
    goto middle;
top:
  sink++;
  c = next();
  if (c == 0)
    return;
middle:
  sink += c;
  if (c & 2)
    work(c);
  c = next();
  if (c)
    goto top;
}

__attribute__((noreturn, noinline)) static void never(int c) {
  while (c) {
    if (c == 9)
      longjmp(out, 3);
    c = next();
  }
  exit(6);
}

// A dead end behind a decision, memory that is not there behind another.
static void ends(void) {
  for (int c = next();; c = next()) {
    if (c == 1)
      never(c);
    if (c == 2) {
      sink = *(volatile int *)(size_t)(c - 2);
      if (c & 1)
        sink++;
    }
    if (c == 0)
      return;
  }
}

int main(int argc, char **argv) {
  static void (*const shapes[])(void) = {blanks, endless, computed, assembly, again, irreducible, ends};
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  length = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (length == 0)
    return 1;
  at = 1;
  if (setjmp(out) == 0)
    shapes[bytes[0] % 7]();
  return 0;
}
