#include "config.h"
#include <stdio.h>
int one(void);
#if !defined(HAVE_SNPRINTF) || defined(HAVE_NO_SUCH_FUNCTION) || defined(HAVE_NO_SUCH_HEADER_H)
#error "a probe went wrong"
#endif
int main(void) { return printf("%d\n", one() + 2) < 0; }
