// A function that is chosen when the program starts: in a static one before a thread has variables of its own.
#include <stdio.h>
static int deep(volatile int *p) { return *p + 1; }
static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
__attribute__((noinline)) static int choose(int which) { volatile int room[100]; room[which] = which; return deep(room + which); }
static int (*resolve(void))(int) { return choose(3) == 4 ? two : one; }
int add(int x) __attribute__((ifunc("resolve")));
int main(int argc, char **argv) { int sum = 0; for (int i = 0; i < 10; i++) sum += add(i); printf("%d\n", sum); return 0; }
