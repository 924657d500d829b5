// Prints the number of shifts that sorting each file takes: `count FILE...`. For 64 bytes it is 2016 at most.
#include "../common/count_files.h"
#include "insertion_sort.h"

int main(int argc, char **argv) { return count_files(argc, argv, insertion_sort); }
