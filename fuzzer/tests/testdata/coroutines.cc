// Coroutines that are resumed, left half-way, and end by exceptions: as the bytes of standard input say.
#include <coroutine>
#include <cstdio>
#include <exception>

static volatile int sink;

struct Numbers {
  struct promise_type {
    int value = 0;
    std::exception_ptr failed;
    Numbers get_return_object() { return Numbers{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { failed = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;
  explicit Numbers(std::coroutine_handle<promise_type> h) : handle(h) {}
  Numbers(const Numbers &) = delete;
  ~Numbers() { handle.destroy(); }
};

static Numbers count(int limit) {
  for (int i = 0;; i++) {
    if (i == limit)
      co_return;
    if (i % 3 == 1)
      continue;
    if (i == 77)
      throw i;
    co_yield i;
  }
}

int main() {
  int c;
  while ((c = getchar()) != EOF) {
    Numbers numbers = count(c);
    while (!numbers.handle.done() && sink % 50 != 49) {
      sink = sink + 1;
      numbers.handle.resume();
    }
    if (numbers.handle.promise().failed)
      sink = sink + 2;
    sink = sink + 1;
  }
  return 0;
}
