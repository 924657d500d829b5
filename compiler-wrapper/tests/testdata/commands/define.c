/* For defines with quotes and blanks. */
#include <stdio.h>
int main(void) { return puts(TEXT) < 0; }
