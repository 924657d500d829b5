// A configuration in C: an object with a function that makes it, and one that frees what it has.
#include <stdio.h>
#include <stddef.h>
typedef struct config { char *last; int lines; } config_t;
struct tree;
void config_init(config_t *config);
void config_destroy(config_t *config);
int config_read_string(config_t *config, const char *text);
int config_read(config_t *config, FILE *stream);
int config_read_file(config_t *config, const char *filename);
int config_read_fd(config_t *config, int fd);
struct tree *tree_parse(const char *text, size_t length);
void tree_free(struct tree *tree);
int tree_visit(struct tree *tree, const void *data, size_t length, int (*seen)(const char *, size_t, void *), void *user);
char *config_expand(const char *text);
struct handle;
int handle_parse(struct handle *handle, const char *text);
int config_ignore(const char *text);
