/* Stands in for the in-process harness's main until it is merged. */
#include "quagmire.h"
int quagmire_main(int argc, char **argv);
int main(int argc, char **argv) { return quagmire_main(argc, argv); }
