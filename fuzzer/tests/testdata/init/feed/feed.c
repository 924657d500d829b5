#include "feed.h"
#include <stdio.h>
#include <stdlib.h>
struct names { FILE *from; };
static int lines(FILE *from) { int c, k = 0; while ((c = getc(from)) != EOF) k += c == '\n'; return k; }
int feed_open(const char *path, const void **made) { *made = fopen(path, "rb"); return *made != 0; }
int feed_close(const void *feed) { return fclose((FILE *)feed); }
int feed_parse(const void *feed, void *user) { return user ? -1 : lines((FILE *)feed); }
struct names *names_create(char *fname, int flags) {
  struct names *made = malloc(sizeof *made);
  if (flags || !(made->from = fopen(fname, "r"))) {
    free(made);
    return 0;
  }
  return made;
}
int names_loop(struct names *names) { return lines(names->from); }
void names_free(struct names *names) { fclose(names->from); free(names); }
