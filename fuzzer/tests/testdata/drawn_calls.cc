// A harness of calls that are drawn: a stack machine. Some states are reached only by calls in the right order, and a stack that
// is searched at each call makes long sequences slow.
#include <cstddef>
#include <cstdint>
#include <fuzzer/FuzzedDataProvider.h>
#include <string>
#include <vector>

namespace {

volatile uint64_t seen;

struct Machine {
  std::vector<int> stack;
  std::string name;
  int stage = 0;

  void push(int value) {
    for (int other : stack)
      seen = seen + (other == value);
    stack.push_back(value);
  }

  void pop() {
    if (!stack.empty())
      stack.pop_back();
  }

  void step(int value) {
    if (stage == 0 && value == 17)
      stage = 1;
    else if (stage == 1 && stack.size() == 3)
      stage = 2;
    else if (stage == 2 && value == 99 && name == "go")
      stage = 3;
    else if (stage == 3 && stack.empty())
      seen = seen + 1;
  }
};

void call(Machine &machine, FuzzedDataProvider &data) {
  switch (data.ConsumeIntegralInRange<int>(0, 3)) {
  case 0:
    machine.push(data.ConsumeIntegral<int>());
    break;
  case 1:
    machine.pop();
    break;
  case 2:
    machine.step(data.ConsumeIntegralInRange<int>(0, 127));
    break;
  default:
    machine.name = data.ConsumeRandomLengthString(8);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  Machine machine;
  while (data.ConsumeBool())
    call(machine, data);
  return 0;
}
