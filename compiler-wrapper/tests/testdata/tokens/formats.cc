// Keywords and magic numbers, in each of the ways in which programs ask for them.
#include <cstdint>
#include <cstdio>
#include <cstring>

static const char *const keywords[] = {"lorem", "ipsum", "dolor", "sitam"};
static const char names[][8] = {"alpha", "beta", "gamma", "delta"};
static const struct {
  int number;
  const char *name;
} table[] = {{1, "struct1"}, {2, "struct2"}, {3, "struct3"}, {4, "struct4"}};
static const char *const messages[] = {"no such file", "out of memory", "a line of %d", "broken pipe here"};

__attribute__((noinline)) static bool matches(const char *text, const char *word) {
  while (*word)
    if (*text++ != *word++)
      return false;
  return true;
}

int main() {
  static char text[4096];
  size_t size = fread(text, 1, sizeof text - 1, stdin);
  int found = 0;
  if (!strcmp(text, "compared"))
    found += 1;
  if (!strncmp(text, "<prefix", 7))
    found += 2;
  if (matches(text, "wrapped"))
    found += 3;
  if (!memcmp(text, "\x89Z\0G", 4))
    found += 4;
  // its result is of no interest, and it is no word for that
  puts("printed");
  uint32_t magic;
  memcpy(&magic, text, sizeof magic);
  if (magic == 0xfeedbeef)
    found += 5;
  if (size > 70000)
    found += 6;
  switch ((uint8_t)text[8] << 8 | (uint8_t)text[9]) {
  case 0x1234:
    found += 7;
    break;
  case 7:
    found += 8;
    break;
  }
  if (text[16] == '<' && text[17] == '!' && text[18] == 'D')
    found += 9;
  if ((text[20] == '[') & ((text[21] == '%') | (text[21] == '@')))
    found += 10;
  for (int i = 0; i < 4; i++)
    if (strstr(text, keywords[i]) || strstr(text, names[i]) || strstr(text, table[i].name))
      found += table[i].number;
  if (found > 90)
    puts(messages[found % 4]);
  return found;
}
