/* An inline function, of which each file has a copy. */
static inline int twice(int a) { return a + a; /* twice */ }

int is_even(int a);
