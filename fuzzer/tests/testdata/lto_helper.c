// The other file of lto_main.c.
int helper(int x) { if (x & 1) return x * 3; return x - 1; }
