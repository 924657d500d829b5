// A keyword compared byte by byte, and a way to crash behind part of it.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static volatile int reached;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char keyword[] = "<!MASK>";
  for (size_t start = 0; start + 7 <= size; ++start) {
    size_t same = 0;
    if (data[start] == keyword[0])
      if (data[start + 1] == keyword[1])
        if (data[start + 2] == keyword[2])
          if (data[start + 3] == keyword[3])
            if (data[start + 4] == keyword[4])
              if (data[start + 5] == keyword[5])
                same = data[start + 6] == keyword[6] ? 7 : 6;
    if (same == 7)
      reached = 1;
    if (same == 6 && data[start + 6] == '!')
      abort();
  }
  return 0;
}
