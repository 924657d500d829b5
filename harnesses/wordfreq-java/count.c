// Prints the number of chain steps that counting the words of each file takes: `count FILE...`.
#include "../common/count_chain_steps.h"
#include "harness.c"

int main(int argc, char **argv) { return count_files(argc, argv, chain_steps); }
