// Parses a generated document of about 1 MB again and again. Times itself: CPU seconds of the work on standard output.
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *document(size_t *size) {
  char *text = malloc(1300000);
  size_t at = (size_t)sprintf(text, "<?xml version=\"1.0\"?>\n<!DOCTYPE catalog [<!ENTITY co \"Quag &amp; Mire\">]>\n<catalog>\n");
  for (unsigned i = 0; at < 1000000; i++)
    at += (size_t)sprintf(text + at,
                          "  <book id=\"bk%u\" lang='%s' pages=\"%u\">\n    <title>Volume %u &#x2014; &co;</title>\n"
                          "    <!-- shelf %u -->\n    <price currency=\"EUR\">%u.%02u</price>\n"
                          "    <text>Of %s &lt;and&gt; of <b>marsh</b>es, part %u.</text><![CDATA[<raw %u>]]>\n  </book>\n",
                          i, i % 3 ? "en" : "cs", i * 7 % 900, i, i % 50, i % 90, i % 100, i % 2 ? "bogs" : "fens", i % 12, i);
  at += (size_t)sprintf(text + at, "</catalog>\n");
  *size = at;
  return text;
}

int main(int argc, char **argv) {
  size_t size;
  char *text = document(&size);
  int rounds = argc > 1 ? atoi(argv[1]) : 30;
  clock_t start = clock();
  for (int i = 0; i < rounds; i++) {
    xmlDocPtr doc = xmlReadMemory(text, (int)size, "catalog.xml", NULL, XML_PARSE_NONET);
    if (!doc)
      return 1;
    xmlFreeDoc(doc);
  }
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return 0;
}
