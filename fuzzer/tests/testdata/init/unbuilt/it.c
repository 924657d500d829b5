#ifndef BUILT
#error "by make"
#endif
int parse_it(const char *t) { int k = 0; while (*t) k += *t++ == ' '; return k; }
