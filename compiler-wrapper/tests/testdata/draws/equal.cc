// Makes random calls of all methods of FuzzedDataProvider over random bytes, and prints a hash of what they return and leave:
// argument 1 is the number of calls, argument 2 the seed. Built with two headers, both programs print the same. With -DC_API,
// those calls that quagmire/draws.h has are made, by it; with -DC_CALLS, the same ones by FuzzedDataProvider.
#ifdef C_API
#include <quagmire/draws.h>
#else
#include <fuzzer/FuzzedDataProvider.h>
#endif

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

static uint64_t state, hash = 0xcbf29ce484222325u;

static uint64_t next() {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static void add(const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ static_cast<const unsigned char *>(bytes)[i]) * 0x100000001b3u;
  hash = (hash ^ size) * 0x100000001b3u;
}

template <typename T> void addValue(T value) { add(&value, sizeof value); }

// a random number of a random magnitude
static uint64_t some() { return next() >> (next() % 64); }

#if defined(C_API) || defined(C_CALLS)
struct Source {
#ifdef C_API
  qgm_src s;
  Source(const uint8_t *data, size_t size) : s(qgm_from(data, size)) {}
  int64_t number(int64_t low, int64_t high) { return qgm_int(&s, low, high); }
  bool flip() { return qgm_flip(&s); }
  size_t pick(size_t n) { return qgm_pick(&s, n); }
  double real() { return qgm_real(&s); }
  size_t bytes(void *to, size_t n) { return qgm_bytes(&s, to, n); }
  size_t text(char *to, size_t most) {
    qgm_open(&s, "text");
    size_t length = qgm_text(&s, to, most);
    qgm_close(&s);
    return length;
  }
  size_t left() { return s.left; }
#else
  FuzzedDataProvider s;
  Source(const uint8_t *data, size_t size) : s(data, size) {}
  int64_t number(int64_t low, int64_t high) { return s.ConsumeIntegralInRange<int64_t>(low, high); }
  bool flip() { return s.ConsumeBool(); }
  size_t pick(size_t n) { return s.ConsumeIntegralInRange<size_t>(0, n - 1); }
  double real() { return s.ConsumeProbability<double>(); }
  size_t bytes(void *to, size_t n) { return s.ConsumeData(to, n); }
  size_t text(char *to, size_t most) {
    std::string text = s.ConsumeRandomLengthString(most);
    memcpy(to, text.c_str(), text.size() + 1);
    return text.size();
  }
  size_t left() { return s.remaining_bytes(); }
#endif
};

static void draw(Source &s) {
  static char buffer[65];
  size_t n = next() % 64;
  int64_t a = static_cast<int64_t>(some()), b = static_cast<int64_t>(some());
  switch (next() % 6) {
  case 0: addValue(s.number(a < b ? a : b, a < b ? b : a)); break;
  case 1: addValue(s.flip()); break;
  case 2: addValue(s.pick(n + 1)); break;
  case 3: addValue(s.real()); break;
  case 4: add(buffer, s.bytes(buffer, n)); break;
  case 5: n = s.text(buffer, n), add(buffer, n + 1); break;
  }
  addValue(s.left());
}
#else
using Source = FuzzedDataProvider;
enum class Colour { Red, Green, Blue, kMaxValue = Blue };
enum class Letter : uint8_t { A, kMaxValue = A };

template <typename T> void range(Source &s) {
  T a = static_cast<T>(some()), b = static_cast<T>(some());
  if (next() % 8 == 0)
    a = std::numeric_limits<T>::min();
  if (next() % 8 == 0)
    b = a;
  addValue(s.ConsumeIntegralInRange<T>(a < b ? a : b, a < b ? b : a));
}

template <typename T> void real(Source &s) {
  T a = static_cast<T>(static_cast<int64_t>(next())), b = static_cast<T>(static_cast<int64_t>(next()));
  switch (next() % 4) {
  case 0: a = std::numeric_limits<T>::lowest(); break;
  case 1: b = std::numeric_limits<T>::max(); break;
  case 2: a = std::numeric_limits<T>::lowest() / 2, b = std::numeric_limits<T>::max() / 2 * static_cast<T>(1.5); break;
  }
  // as text: a long double has bytes that mean nothing
  char text[64];
  T value = s.ConsumeFloatingPointInRange<T>(a < b ? a : b, a < b ? b : a);
  add(text, static_cast<size_t>(snprintf(text, sizeof text, "%La", static_cast<long double>(value))));
}

template <typename V> void all(const V &bytes) { add(bytes.data(), bytes.size()); }

static void draw(Source &s) {
  static const int array[7] = {3, 1, 4, 1, 5, 9, 2};
  static const std::array<const char *, 3> words = {{"one", "two", "three"}};
  static char buffer[64];
  size_t n = next() % 32;
  switch (next() % 32) {
  case 0: range<int8_t>(s); break;
  case 1: range<uint8_t>(s); break;
  case 2: range<int16_t>(s); break;
  case 3: range<uint16_t>(s); break;
  case 4: range<int32_t>(s); break;
  case 5: range<uint32_t>(s); break;
  case 6: range<int64_t>(s); break;
  case 7: range<uint64_t>(s); break;
  case 8: range<char>(s); break;
  case 9: addValue(s.ConsumeIntegral<bool>()); break;
  case 10: addValue(s.ConsumeIntegral<int>()); break;
  case 11: addValue(s.ConsumeIntegral<uint64_t>()); break;
  case 12: addValue(s.ConsumeIntegral<signed char>()); break;
  case 13: addValue(s.ConsumeBool()); break;
  case 14: addValue(s.ConsumeEnum<Colour>()); break;
  case 15: addValue(s.ConsumeEnum<Letter>()); break;
  case 16: addValue(s.PickValueInArray(array)); break;
  case 17: addValue(s.PickValueInArray(words)[0]); break;
  case 18: addValue(s.PickValueInArray({2.5, 3.5, -1.0})); break;
  case 19: real<float>(s); break;
  case 20: real<double>(s); break;
  case 21: real<long double>(s); break;
  case 22: addValue(s.ConsumeFloatingPoint<double>()); break;
  case 23: addValue(s.ConsumeFloatingPoint<float>()); break;
  case 24: addValue(s.ConsumeProbability<float>()), addValue(s.ConsumeProbability<double>()); break;
  case 25: all(s.ConsumeBytes<uint8_t>(n)); break;
  case 26: all(s.ConsumeBytesWithTerminator<char>(n, 'x')), all(s.ConsumeBytesWithTerminator<char>(n)); break;
  case 27: all(s.ConsumeBytesAsString(n)); break;
  case 28: all(s.ConsumeRandomLengthString(n)); break;
  case 29: add(buffer, s.ConsumeData(buffer, n)); break;
  case 30:
    if (next() % 16 == 0)
      all(s.ConsumeRandomLengthString());
    break;
  case 31:
    if (next() % 64 == 0)
      all(s.ConsumeRemainingBytes<char>());
    else if (next() % 64 == 0)
      all(s.ConsumeRemainingBytesAsString());
    break;
  }
  addValue(s.remaining_bytes());
}
#endif

int main(int argc, char **argv) {
  uint64_t calls = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1000;
  state = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
  while (calls > 0) {
    std::vector<uint8_t> bytes(next() % 2048);
    bool slashes = next() % 2;
    for (uint8_t &byte : bytes)
      byte = slashes && next() % 4 == 0 ? '\\' : static_cast<uint8_t>(next());
    Source s(bytes.data(), bytes.size());
    for (uint64_t round = next() % 256; round > 0 && calls > 0; round--, calls--)
      draw(s);
  }
  printf("%016llx\n", static_cast<unsigned long long>(hash));
  return 0;
}
