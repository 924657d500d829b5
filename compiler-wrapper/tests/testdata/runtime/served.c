// A program for the fork server, and with -DFUZZER the process that has it run: every kind of end, and counts in memory that
// is shared.
#define _GNU_SOURCE
#include "quagmire.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef FUZZER

void __quagmire_register(const struct qgm_function *, const struct qgm_function *, uint32_t *, uint32_t *);

static uint32_t entries[1024] __attribute__((aligned(4096)));
static uint32_t counts[1024] __attribute__((aligned(4096)));
static const uint32_t weights[1024] = {1};
static struct qgm_function function = {.entry = entries, .counts = counts, .weights = weights, .edges = 1025};

__attribute__((constructor(101))) static void registers(void) {
  __quagmire_register(&function, &function + 1, entries, entries + 1024);
}

int main(void) {
  char byte = 0;
  if (read(0, &byte, 1) != 1)
    return 3;
  entries[0]++;
  counts[1023] += (unsigned char)byte;
  if (byte == 'c')
    raise(SIGSEGV);
  if (byte == 'e')
    _exit(7);
  free(malloc(5000));
  return 0;
}

#else

#define CHECK(what) \
  do { \
    if (!(what)) { \
      printf("line %d: %s\n", __LINE__, #what); \
      return 1; \
    } \
  } while (0)

int main(int argc, char **argv) {
  CHECK(argc == 2);
  int requests[2], answers[2], memory = memfd_create("counts", 0), input = memfd_create("input", 0);
  CHECK(pipe2(requests, O_CLOEXEC) == 0 && pipe2(answers, O_CLOEXEC) == 0 && ftruncate(memory, QGM_SERVED_BYTES) == 0);
  struct qgm_served *served = mmap(NULL, QGM_SERVED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  CHECK(served != MAP_FAILED);
  served->abi = QGM_ABI;
  pid_t server = fork();
  if (server == 0) {
    dup2(input, 0);
    dup2(requests[0], QGM_REQUESTS);
    dup2(answers[1], QGM_ANSWERS);
    dup2(memory, 197);
    setenv(QGM_SERVE, "197", 1);
    execl(argv[1], argv[1], NULL);
    _exit(1);
  }
  close(answers[1]);
  uint32_t word = 1;
  CHECK(read(answers[0], &word, 4) == 4 && word == 0 && served->ready == QGM_READY);
  uint32_t *counts = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, memory, QGM_SERVED_BYTES);
  CHECK(counts != MAP_FAILED);
  const char inputs[] = "axce";
  for (uint32_t run = 1; run <= 4; run++) {
    char byte = inputs[run - 1];
    CHECK(pwrite(input, &byte, 1, 0) == 1 && lseek(input, 0, SEEK_SET) == 0);
    memset(counts, 0, 8192);
    served->answered = run - 1;
    served->wanted = run;
    CHECK(write(requests[1], &run, 4) == 4 && read(answers[0], &word, 4) == 4 && word == run);
    int status = (int)served->status;
    CHECK(byte != 'c' || WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
    CHECK(byte != 'e' || (WIFEXITED(status) && WEXITSTATUS(status) == 7));
    CHECK(byte == 'c' || byte == 'e' || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    uint64_t sum = 0;
    for (int i = 0; i < 2048; i++)
      sum += counts[i];
    CHECK(sum == 1 + (unsigned char)byte && served->child == 0 && served->answered == run);
  }
  // lists of libraries that no run has written
  const struct {
    char fill;
    uint64_t end;
  } lists[] = {{'/', UINT64_MAX}, {'/', QGM_LIBRARIES_BYTES}, {0, QGM_LIBRARIES_BYTES + 1}, {'/', 3}};
  for (uint32_t run = 5; run < 9; run++) {
    memset(served->libraries, lists[run - 5].fill, sizeof served->libraries);
    served->libraries_end = lists[run - 5].end;
    served->opening = 1;
    served->answered = run - 1;
    served->wanted = run;
    CHECK(write(requests[1], &run, 4) == 4 && read(answers[0], &word, 4) == 4 && word == run);
    served->opening = 0;
  }
  close(requests[1]);
  int status = 0;
  CHECK(waitpid(server, &status, 0) == server && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  printf("done\n");
  return 0;
}

#endif
