// Calls functions of two files that link-time optimisation inlines.
int helper(int);
static int mine(int x) { int s=0; for (int i=0;i<x;i++) s+=i*helper(i); return s; }
int other(int x) { return mine(x) + 3; }
int main(int c, char **v) { return other(c * 10) & 1; }
