#include "c.h"
#include <not/here.h>
int parse(const char *s);
