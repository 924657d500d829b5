#include <stddef.h>
size_t doc_length(const char *text);
int doc_parse(const char *text, size_t n);
void doc_free(void *p);
