#include <stdio.h>
int main(int n, char **v) { FILE *f = n > 1 ? fopen(v[1], "rb") : stdin; int c, k = 0;
while (f && (c = getc(f)) != EOF) k += c == '\n'; return k > 1000; }
