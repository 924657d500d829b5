#include "config.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct tree { int nodes; char *text; };
void config_init(config_t *c) { c->last = malloc(1); c->lines = 0; }
void config_destroy(config_t *c) { free(c->last); }
int config_read_string(config_t *c, const char *text) {
  if (!c->last)
    abort();
  for (; *text; text++)
    c->lines += *text == '\n';
  return c->lines;
}
int config_read(config_t *c, FILE *stream) {
  int letter;
  while ((letter = fgetc(stream)) != EOF)
    c->lines += letter == '\n';
  return c->last ? c->lines : -1;
}
int config_read_file(config_t *c, const char *filename) {
  FILE *stream = fopen(filename, "r");
  if (!stream)
    abort();
  int lines = config_read(c, stream);
  fclose(stream);
  return lines;
}
int config_read_fd(config_t *c, int fd) {
  char letter;
  while (read(fd, &letter, 1) == 1)
    c->lines += letter == '\n';
  return c->lines;
}
struct tree *tree_parse(const char *text, size_t length) {
  struct tree *tree = malloc(sizeof *tree);
  tree->nodes = 0;
  tree->text = malloc(length + 1);
  memcpy(tree->text, text, length);
  for (size_t i = 0; i < length; i++)
    tree->nodes += text[i] == '(';
  return tree;
}
void tree_free(struct tree *tree) { free(tree->text); free(tree); }
int tree_visit(struct tree *tree, const void *data, size_t length, int (*seen)(const char *, size_t, void *), void *user) {
  for (size_t i = 0; i < length; i++)
    if (((const char *)data)[i] == ' ' && seen("a blank", i, user))
      return 1;
  return tree->nodes;
}
struct tree *tree_new(void) { return tree_parse("", 0); }
char *config_expand(const char *text) {
  char *made = malloc(2 * strlen(text) + 1), *to = made;
  for (; *text; text++) {
    *to++ = *text;
    if (*text == '$')
      *to++ = '$';
  }
  *to = 0;
  return made;
}
int handle_parse(struct handle *handle, const char *text) { return handle && *text == 'a'; }
int config_ignore(const char *text) { (void)text; return 3; }
