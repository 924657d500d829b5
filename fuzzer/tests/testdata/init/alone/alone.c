#include <string.h>
static int count(const char *text) {
  int k = 0;
  while (*text)
    k += *text++ == 'x';
  return k;
}
int main(int n, char **words) { return n > 1 ? count(words[1]) : 0; }
