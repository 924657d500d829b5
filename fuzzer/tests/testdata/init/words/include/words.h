#include "generated.h"
int parse_words(const char *text, SIZE n);
