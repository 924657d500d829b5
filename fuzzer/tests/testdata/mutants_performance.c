/* Loops and calls whose amounts are known: an input is a letter and two numbers. It reads standard input, or the file that is
   named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile unsigned sink;

static void nest(int n, int m) {
  for (int i = 0; i < n; i++)   /* outer */
    for (int j = 0; j < m; j++) /* inner */
      sink += (unsigned)j;
}

static int search(int n, int wanted) {
  for (int i = 0; i < n; i++) /* search */
    if (i == wanted)
      return i;
  return -1;
}

static const char *skip(const char *text, const char *end) {
  while (text < end && *text == 'a') /* skip */
    text++;
  return text;
}

static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int sorted(int n) {
  int *items = malloc((size_t)n * sizeof *items), key = n / 2;
  for (int i = 0; i < n; i++)
    items[i] = n - i;
  qsort(items, (size_t)n, sizeof *items, order);                             /* qsort */
  int *found = bsearch(&key, items, (size_t)n, sizeof *items, order);        /* bsearch */
  int at = found ? (int)(found - items) : -1;
  free(items);
  return at;
}

static char *filled(int n) {
  char *text = malloc((size_t)n + 1);
  memset(text, 'a', (size_t)n);
  text[n] = 0;
  return text;
}

static int texts(int n) {
  char *text = filled(n);
  size_t length = strlen(text); /* strlen */
  unsigned sum = 0;
  for (size_t i = 0; i < length; i++)
    sum += (unsigned char)text[i];
  sum += strchr(text, 'b') != NULL;  /* strchr */
  sum += strstr(text, "ab") != NULL; /* strstr */
  sum += (unsigned)(skip(text, text + n) - text);
  text = realloc(text, (size_t)n * 2 + 1); /* realloc */
  free(text);
  return (int)sum;
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
  char kind = 0;
  int n = 0, m = 0, result = 0;
  if (!file || fscanf(file, "%c %d %d", &kind, &n, &m) != 3)
    return 2;
  switch (kind) {
  case 'n':
    nest(n, m);
    break;
  case 's':
    result = search(n, m);
    break;
  case 'q':
    result = sorted(n);
    break;
  case 't':
    result = texts(n);
    break;
  default:
    return 3;
  }
  printf("%c %d\n", kind, result);
  return result == 7;
}
