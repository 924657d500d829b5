// Works if the input contains `<!ATTLIST`. What then happens if it also contains a byte that is not ASCII depends on its
// first byte: `c` crashes, `k` takes the process along, `h` never ends, anything else returns. Tests name some lines.
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned work;

__attribute__((noinline)) static void found(void) {
  for (unsigned i = 0; i < 10000; ++i) work += i; // line 12
}

__attribute__((noinline)) static void never(void) { work = 0; }

static int keyword_at(const uint8_t *at) {
  static const char keyword[] = "<!ATTLIST";
  for (size_t i = 0; keyword[i]; ++i) {
    if (at[i] != (uint8_t)keyword[i]) return 0;
  }
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int is_ascii = 1, is_found = 0;
  for (size_t at = 0; at < size; ++at) {
    if (data[at] > 127) is_ascii = 0;
    if (at + 9 <= size && keyword_at(data + at)) is_found = 1;
  }
  if (is_found) found();
  if (size == 12345) never();
  if (size == 0 || is_ascii) return 0;
  if (data[0] == 'c') abort();
  if (data[0] == 'k') kill(getpid(), SIGKILL);
  while (data[0] == 'h') ++work;
  return 0;
}
