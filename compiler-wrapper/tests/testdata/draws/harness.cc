// Harnesses that draw in different ways; the environment variable DRAWS names one. Each prints what it draws. With -DALONE, a
// program that runs it once on a file.
#include <fuzzer/FuzzedDataProvider.h>
#include <quagmire/draws.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

using Provider = FuzzedDataProvider;

// a flag before each element: the loop comes round
static __attribute__((noinline)) void list(Provider &p) {
  int size = p.ConsumeIntegralInRange<int>(0, 9);
  for (int i = 0; i < size; i++) {
    bool named = p.ConsumeBool();
    std::string name = named ? p.ConsumeRandomLengthString(8) : "";
    printf("[%d %s]", named, name.c_str());
  }
  printf("(%d)", p.ConsumeIntegralInRange<int>(0, 9));
}

// an expression: a number, or two of them
static __attribute__((noinline)) void expression(Provider &p, int depth) {
  if (depth > 0 && p.ConsumeBool()) {
    printf("(");
    expression(p, depth - 1);
    printf("+");
    expression(p, depth - 1);
    printf(")");
  } else {
    printf("%d", p.ConsumeIntegralInRange<int>(0, 9));
  }
}

static __attribute__((noinline)) void inner(Provider &p) { printf("<%d>", p.ConsumeIntegral<uint8_t>()); }

static __attribute__((noinline)) void outer(Provider &p) {
  int times = p.PickValueInArray({1, 2, 3});
  for (int i = 0; i < times; i++)
    inner(p);
}

static __attribute__((noinline)) void deep(Provider &p, int depth) {
  volatile char frame[16] = {0};
  printf("%d", p.ConsumeBool());
  if (depth > 0)
    deep(p, depth - 1);
  frame[0] = 1;
}

static void named(const uint8_t *data, size_t size) {
  qgm_src s = qgm_from(data, size);
  for (size_t i = qgm_pick(&s, 4); i > 0; i--) {
    char text[8];
    qgm_open(&s, "statement");
    printf("%d:", (int)qgm_int(&s, -5, 5));
    qgm_open(&s, "name");
    qgm_text(&s, text, 7);
    printf("%s;", text);
    qgm_close(&s);
    qgm_close(&s);
  }
}

static void all(Provider &p) {
  enum class Colour { Red, Green, kMaxValue = Green };
  printf("%d", (int)p.ConsumeEnum<Colour>());
  printf(" %a", p.ConsumeProbability<float>());
  printf(" %s", p.ConsumeRandomLengthString(4).c_str());
  printf(" %s", p.ConsumeBytesAsString(2).c_str());
  printf(" %zu", p.remaining_bytes());
  printf(" %s", p.ConsumeRemainingBytesAsString().c_str());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string name = getenv("DRAWS");
  Provider p(data, size);
  if (name == "list")
    list(p);
  if (name == "recursion")
    expression(p, 3);
  if (name == "nested")
    outer(p), outer(p);
  if (name == "deep")
    deep(p, 1000);
  if (name == "named")
    named(data, size);
  if (name == "all")
    all(p);
  if (name == "several") {
    Provider other(data + size / 2, size - size / 2);
    printf("%d %d", p.ConsumeIntegral<uint8_t>(), other.ConsumeIntegral<uint8_t>());
  }
  if (name == "copy") {
    std::string copy(reinterpret_cast<const char *>(data), size);
    Provider other(reinterpret_cast<const uint8_t *>(copy.data()), size);
    printf("%d", other.ConsumeIntegral<uint8_t>());
  }
  if (name == "thread") {
    std::thread([&] { printf("%d", p.ConsumeIntegral<uint8_t>()); }).join();
    printf(" %d", p.ConsumeIntegral<uint8_t>());
  }
  if (name == "many")
    for (int i = 0; i < 70000; i++)
      p.ConsumeBool();
  if (name == "generated") {
    std::string text = p.ConsumeRandomLengthString(3);
    qgm_generated(text.data(), text.size());
  }
  printf("\n");
  return 0;
}

#ifdef ALONE
int main(int, char **argv) {
  static uint8_t bytes[1 << 16];
  FILE *file = fopen(argv[1], "rb");
  return LLVMFuzzerTestOneInput(bytes, fread(bytes, 1, sizeof bytes, file));
}
#endif
