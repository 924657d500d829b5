// Writes a megabyte to standard error before main. The input `d` leaves a process behind that waits for ever.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;

__attribute__((constructor)) static void complain(void) {
  char line[1024];
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\n';
  for (int i = 0; i < 1024; i++)
    if (write(2, line, sizeof line) < 0) return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 1 && data[0] == 'd' && fork() == 0)
    for (;;) pause();
  for (size_t i = 0; i < size; i++) sink++;
  return 0;
}
