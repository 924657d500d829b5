#include "../include/words.h"
int parse_words(const char *t, SIZE n) { int k = 0; for (SIZE i = 0; i < n; i++) k += t[i] == ' '; return k; }
