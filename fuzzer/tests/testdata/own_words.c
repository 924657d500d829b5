/* Harness that crashes behind a word, which it compares byte by byte in a way that is CASE. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FOLDED_BY_TABLE 1
#define FOLDED_BY_FUNCTION 2
#define COUNTED 3
#define PACKED_TABLE 4
#define UNREADABLE 5

static char word[16];

/* The word behind the first blank. */
static void take(const uint8_t *data, size_t size) {
  size_t at = 0, length = 0;
  while (at < size && data[at] != ' ')
    at++;
  while (++at < size && length < sizeof word - 1 && data[at] > ' ')
    word[length++] = (char)data[at];
  word[length] = 0;
}

#if CASE == FOLDED_BY_TABLE
static unsigned char lower[256];

static int same(const unsigned char *a, const unsigned char *b) {
  for (; *a && lower[*a] == lower[*b]; a++, b++)
    ;
  return lower[*a] == lower[*b];
}

static int is_found(void) {
  for (int i = 0; i < 256; i++)
    lower[i] = (unsigned char)(i >= 'A' && i <= 'Z' ? i + 32 : i);
  static const unsigned char *const names[] = {(const unsigned char *)"first_name", (const unsigned char *)"zero_blob"};
  return same((const unsigned char *)word, names[1]);
}
#elif CASE == FOLDED_BY_FUNCTION
static int same(const char *a, const char *b) {
  while (toupper((unsigned char)*a) == toupper((unsigned char)*b)) {
    if (!*a)
      return 1;
    a++, b++;
  }
  return 0;
}

static int is_found(void) {
  static const char *const names[] = {"first_name", "zero_blob"};
  return same(word, names[1]);
}
#elif CASE == COUNTED
static int is_found(void) {
  static const char *volatile names[] = {"first_name", "zero_blob"};
  const char *name = names[1];
  size_t length = strlen(word);
  if (length < 9)
    return 0;
  for (size_t i = 0; i < length; i++)
    if (word[i] != name[i])
      return 0;
  return 1;
}
#elif CASE == PACKED_TABLE
/* as of a lexer: words that share letters, found by a hash of their ends and length */
static const char text[] = "REINDEXEDESCAPEACHECKEYBEFOREIGNOREGEXPLAINSTEADDATABASELECTABLEFTHEN";
static const struct {
  unsigned char offset, length;
} words[] = {{0, 7}, {2, 7}, {9, 6}, {14, 4}, {17, 5}, {20, 3}, {23, 6}, {25, 7}, {30, 6}, {33, 6}, {37, 7}};

static unsigned hash(const char *letters, size_t length) {
  return ((letters[0] & 31u) * 4 ^ (letters[length - 1] & 31u) * 3 ^ (unsigned)length) % 13;
}

static int is_found(void) {
  size_t length = strlen(word);
  for (size_t i = 0; length > 1 && i < sizeof words / sizeof *words; i++) {
    const char *one = text + words[i].offset;
    if (hash(word, length) != hash(one, words[i].length) || words[i].length != length)
      continue;
    size_t same = 0;
    while (same < length && (word[same] & ~32) == one[same])
      same++;
    if (same == length && i == 7) /* FOREIGN */
      return 1;
  }
  return 0;
}
#elif CASE == UNREADABLE
/* where no byte can be read, and none is: the loop does not begin */
static int is_found(void) {
  static char *end;
  if (!end) {
    long page = sysconf(_SC_PAGESIZE);
    char *two = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (two == MAP_FAILED || mprotect(two + page, (size_t)page, PROT_NONE) != 0)
      return 0;
    end = two + page;
  }
  volatile size_t none = 0;
  size_t most = none, same = 0;
  while (same < most && end[same] == word[same])
    same++;
  /* and up to there */
  memcpy(end - 4, "name", 4);
  size_t length = strnlen(word, 4), of_name = 0;
  while (of_name < length && end[(long)of_name - 4] == word[of_name])
    of_name++;
  return same + of_name > 4;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  take(data, size);
  if (is_found())
    abort();
  return 0;
}

#ifdef PROGRAM
#include <stdio.h>

int main(void) {
  uint8_t input[4096];
  return LLVMFuzzerTestOneInput(input, fread(input, 1, sizeof input, stdin));
}
#endif
