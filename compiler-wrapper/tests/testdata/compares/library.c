/* A shared library; its harness, if any, is elsewhere. */
#include <string.h>

int is_keyword(const char *text);
int is_keyword(const char *text) { return strcmp(text, "keyword") == 0; }
