// A harness for libprotobuf-mutator: takes a Document as text, and compares the keys of its items with each other.
#include "document.pb.h"
#include "src/libfuzzer/libfuzzer_macro.h"

static volatile unsigned sink;

__attribute__((noinline)) static void consecutive() { sink = sink + 1; }

__attribute__((noinline)) static unsigned depth(const Item &item) {
  unsigned deepest = 0;
  for (const Item &child : item.children())
    deepest = std::max(deepest, depth(child));
  return deepest + 1;
}

DEFINE_PROTO_FUZZER(const Document &document) {
  for (const Item &one : document.items())
    for (const Item &other : document.items())
      if (&one != &other && one.key() == other.key())
        sink = sink + 1;
  for (const Item &item : document.items())
    sink = sink + depth(item);
  for (int i = 2; i < document.items_size(); i++)
    if (document.items(i).number() != 0 && document.items(i - 1).number() == document.items(i).number() &&
        !document.items(i - 2).key().empty())
      consecutive();
}
