// A generator of about a hundred draws, with WORK rounds of a hash for each of them.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <string>

static uint64_t hash;

static void work(uint64_t value) {
  for (int i = 0; i < WORK; i++)
    hash = (hash ^ (value + static_cast<uint64_t>(i))) * 0x100000001b3u;
}

static __attribute__((noinline)) void operation(FuzzedDataProvider &p) {
  switch (p.ConsumeIntegralInRange<int>(0, 4)) {
  case 0: work(p.ConsumeIntegral<uint32_t>()); break;
  case 1: work(p.ConsumeBool()); break;
  case 2: work(static_cast<uint64_t>(p.PickValueInArray({3, 5, 7}))); break;
  case 3: work(p.ConsumeRandomLengthString(12).size()); break;
  case 4: work(static_cast<uint64_t>(p.ConsumeProbability<float>() * 10)); break;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzedDataProvider p(data, size);
  for (int i = 0; i < 50; i++)
    operation(p);
  return static_cast<int>(hash >> 63);
}
