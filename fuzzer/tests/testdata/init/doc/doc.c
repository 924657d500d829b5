#include "doc.h"
#include <string.h>
size_t doc_length(const char *t) { return strlen(t); }
int doc_parse(const char *t, size_t n) { int k = 0; for (size_t i = 0; i < n; i++) k += t[i] == '<'; return k; }
void doc_free(void *p) { (void)p; }
