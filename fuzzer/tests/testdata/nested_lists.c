/* Reads lists of words in parentheses. Anything else is refused, so that bytes rarely get far. Each word is compared with all
   words of the lists around it: quadratic in the depth. */
#include <stddef.h>
#include <stdint.h>

static const uint8_t *text, *end;
static const uint8_t *words[4096];
static int depth;
static volatile uint64_t equal;

__attribute__((noinline)) static void compare(const uint8_t *word) {
  for (int i = 0; i < depth; i++)
    equal += *words[i] == *word;
}

__attribute__((noinline)) void accepted(void) { equal++; }

static int is_letter(void) { return text < end && (*text == 'x' || (*text >= 'a' && *text <= 'c')); }

static int list(void) {
  if (text == end || *text++ != '(' || depth == 4096)
    return 0;
  words[depth++] = text;
  int is_first = 1;
  while (text < end && *text != ')') {
    if (!is_first && *text++ != ' ')
      return 0;
    is_first = 0;
    if (text < end && *text == '(') {
      if (!list())
        return 0;
    } else if (is_letter()) {
      compare(text);
      while (is_letter())
        text++;
    } else {
      return 0;
    }
  }
  depth--;
  return text < end && *text++ == ')';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  text = data;
  end = data + size;
  depth = 0;
  if (list() && text == end)
    accepted();
  return 0;
}
