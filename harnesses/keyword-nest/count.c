// Prints "LEVEL FILE" for each file named: the deepest level that it reaches, 0 to 3. Plain C, not instrumented.
#include "../common/count_files.h"
#include "keyword_nest.h"

static size_t count(uint8_t *bytes, size_t size) { return deepest_level(bytes, size); }

int main(int argc, char **argv) { return count_files(argc, argv, count); }
