/* Decodes DER of the type List:
 *   Name ::= SEQUENCE { id OBJECT IDENTIFIER, value UTF8String }
 *   List ::= SEQUENCE { version INTEGER, names SEQUENCE OF Name, numbers SET OF INTEGER } */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <libtasn1.h>

/* as asn1Parser writes it */
static const asn1_static_node table[] = {
    {"Names", 536872976, NULL}, {NULL, 1073741836, NULL},      {"Name", 1610612741, NULL},  {"id", 1073741836, NULL},
    {"value", 34, NULL},        {"List", 536870917, NULL},     {"version", 1073741827, NULL}, {"names", 1610612747, NULL},
    {NULL, 2, "Name"},          {"numbers", 536870927, NULL}, {NULL, 3, NULL},             {NULL, 0, NULL}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static asn1_node definitions;
  if (definitions == NULL && asn1_array2tree(table, &definitions, NULL) != ASN1_SUCCESS)
    abort();
  asn1_node list = NULL;
  if (asn1_create_element(definitions, "Names.List", &list) != ASN1_SUCCESS)
    abort();
  asn1_der_decoding(&list, data, (int)size, NULL);
  asn1_delete_structure(&list);
  return 0;
}
