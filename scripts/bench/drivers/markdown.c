// Renders generated Markdown. Times itself: CPU seconds of the work on standard output.
#include <cmark.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
  static const char *parts[] = {"plain words here ", "*moss* ", "**peat** ", "`code` ", "[fen](to.html \"t\") ", "&amp; ",
                                "<b>reed</b> ",      "\n\n",    "\n- item ", "\n> said ", "\n\n# Mire\n\n", "\n1. one "};
  size_t size = 1 << 20, at = 0;
  char *text = malloc(size + 64);
  unsigned long state = 31;
  while (at < size) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    at += (size_t)sprintf(text + at, "%s", parts[(state >> 33) % 12]);
  }
  int rounds = argc > 1 ? atoi(argv[1]) : 3;
  clock_t start = clock();
  for (int i = 0; i < rounds; i++) {
    char *html = cmark_markdown_to_html(text, at, CMARK_OPT_DEFAULT);
    if (!html)
      return 1;
    free(html);
  }
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return 0;
}
