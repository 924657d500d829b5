/* Compiles the input as a filter. Names of hosts are of no network, so that a run needs none and repeats itself. */
#include <netdb.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **results) {
  (void)node, (void)service, (void)hints, (void)results;
  return EAI_NONAME;
}

struct netent *getnetbyname(const char *name) {
  (void)name;
  return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *filter = malloc(size + 1);
  memcpy(filter, data, size);
  filter[size] = '\0';
  pcap_t *capture = pcap_open_dead(DLT_EN10MB, 65535);
  struct bpf_program program;
  if (pcap_compile(capture, &program, filter, 1, PCAP_NETMASK_UNKNOWN) == 0)
    pcap_freecode(&program);
  pcap_close(capture);
  free(filter);
  return 0;
}
