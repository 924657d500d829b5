// Parses and prints generated JSON. Times itself: CPU seconds of the work on standard output.
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
  size_t size = 1 << 20, at = 0;
  char *text = malloc(size + 256);
  unsigned long state = 77;
  at += (size_t)sprintf(text, "[");
  while (at < size) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    at += (size_t)sprintf(text + at, "%s{\"id\": %lu, \"name\": \"reed %lx\\n\", \"wet\": %s, \"depths\": [%lu, -%lu.5e2, null]}",
                          at > 1 ? ", " : "", state >> 40, state >> 50, state >> 63 ? "true" : "false", state >> 55,
                          state >> 60);
  }
  sprintf(text + at, "]");
  int rounds = argc > 1 ? atoi(argv[1]) : 3;
  clock_t start = clock();
  for (int i = 0; i < rounds; i++) {
    cJSON *parsed = cJSON_Parse(text);
    char *printed = parsed ? cJSON_PrintUnformatted(parsed) : NULL;
    if (!printed)
      return 1;
    free(printed);
    cJSON_Delete(parsed);
  }
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return 0;
}
