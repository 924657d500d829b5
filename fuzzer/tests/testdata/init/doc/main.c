#include "doc.h"
int main(int n, char **words) { return doc_parse(words[0], n > 0); }
