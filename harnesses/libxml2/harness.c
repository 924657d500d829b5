// Parses the input as an XML document with libxml2. See README.md.
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/accepted.h"

static void say_nothing(void *context, const char *message, ...) {
  (void)context, (void)message;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  xmlInitParser();
  xmlSetGenericErrorFunc(NULL, say_nothing);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  xmlDocPtr doc = xmlReadMemory((const char *)data, (int)size, "input.xml", NULL,
                                XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  if (doc) {
    accepted();
    xmlFreeDoc(doc);
  }
  xmlResetLastError();
  return 0;
}
