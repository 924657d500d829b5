#include <stddef.h>
int lists_parse(const char *text, size_t n);
