// Generates a document and a path (XPath), both recursively, evaluates the path with pugixml, and writes and reads the
// document again. See README.md.
#include <fuzzer/FuzzedDataProvider.h>
#include <pugixml.hpp>

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "../common/accepted.h"

namespace {

constexpr int DEEPEST_NODE = 12, MOST_NODES = 60, MOST_ATTRIBUTES = 20, DEEPEST_EXPRESSION = 3;

const char *const NAMES[] = {"a", "b", "c", "d", "x:y", "item"};

class Generator {
 public:
  explicit Generator(FuzzedDataProvider &draws) : draws(draws) {}

  void element(pugi::xml_node node, int depth) {
    for (int i = 0; i < MOST_ATTRIBUTES && draws.ConsumeIntegralInRange(0, 2) == 2; ++i) {
      node.append_attribute(draws.PickValueInArray(NAMES)).set_value(text().c_str());
    }
    int children = depth < DEEPEST_NODE ? draws.ConsumeIntegralInRange(0, 5) : 0;
    for (int i = 0; i < children && nodes < MOST_NODES; ++i) child(node, depth);
  }

  // A path: steps, each with an axis, a test and predicates.
  std::string path(int depth) {
    static const char *const AXES[] = {"child::", "descendant::", "following-sibling::", "preceding-sibling::", "ancestor::",
                                       "parent::", "self::", "descendant-or-self::", "following::", "preceding::"};
    static const char *const TESTS[] = {"*", "node()", "text()", "comment()", "processing-instruction()"};
    std::string made = draws.ConsumeBool() ? "/" : "";
    int steps = draws.ConsumeIntegralInRange(1, 3);
    for (int i = 0; i < steps; ++i) {
      if (i > 0) made += draws.ConsumeBool() ? "/" : "//";
      if (draws.ConsumeBool()) made += draws.PickValueInArray(AXES);
      made += draws.ConsumeBool() ? draws.PickValueInArray(NAMES) : draws.PickValueInArray(TESTS);
      if (depth < DEEPEST_EXPRESSION && draws.ConsumeBool()) made += "[" + expression(depth + 1) + "]";
    }
    return made;
  }

  std::string expression(int depth) {
    static const char *const OPERATORS[] = {" + ", " - ", " * ", " div ", " mod ", " = ", " != ", " < ", " >= ", " and ", " or "};
    static const char *const UNARY[] = {"count", "sum", "string", "number", "boolean", "not", "string-length", "normalize-space",
                                        "name", "floor", "ceiling", "round"};
    static const char *const BINARY[] = {"concat", "contains", "starts-with", "substring-before", "substring-after", "substring"};
    int most = depth < DEEPEST_EXPRESSION ? 8 : 3;
    switch (draws.ConsumeIntegralInRange(0, most)) {
    case 0: return std::to_string(draws.ConsumeIntegral<int16_t>());
    case 1: return "'" + std::string(draws.PickValueInArray(NAMES)) + "'";
    case 2: return draws.ConsumeBool() ? "position()" : "last()";
    case 3: return "@" + std::string(draws.PickValueInArray(NAMES));
    case 4: return path(depth + 1);
    case 5: return expression(depth + 1) + draws.PickValueInArray(OPERATORS) + expression(depth + 1);
    case 6: return std::string(draws.PickValueInArray(UNARY)) + "(" + expression(depth + 1) + ")";
    case 7: {
      std::string name = draws.PickValueInArray(BINARY), first = expression(depth + 1);
      return name + "(" + first + ", " + expression(depth + 1) + ")";
    }
    default: return "(" + path(depth + 1) + " | " + path(depth + 1) + ")";
    }
  }

 private:
  void child(pugi::xml_node parent, int depth) {
    ++nodes;
    switch (draws.ConsumeIntegralInRange(0, 6)) {
    case 0: parent.append_child(pugi::node_pcdata).set_value(text().c_str()); return;
    case 1: parent.append_child(pugi::node_cdata).set_value(text().c_str()); return;
    case 2: parent.append_child(pugi::node_comment).set_value(text().c_str()); return;
    case 3: parent.append_child(pugi::node_pi).set_name(draws.PickValueInArray(NAMES)); return;
    default: {
      bool is_first = draws.ConsumeBool();
      const char *name = draws.PickValueInArray(NAMES);
      element(is_first ? parent.prepend_child(name) : parent.append_child(name), depth + 1);
      return;
    }
    }
  }

  std::string text() {
    return draws.ConsumeBool() ? draws.PickValueInArray(NAMES) : draws.ConsumeRandomLengthString(24);
  }

  FuzzedDataProvider &draws;
  int nodes = 0;
};

void evaluate(const pugi::xml_document &document, const std::string &text) {
  try {
    pugi::xpath_query query(text.c_str());
    query.evaluate_string(document);
    if (query.return_type() == pugi::xpath_type_node_set) query.evaluate_node_set(document).sort(true);
    accepted();
  } catch (const pugi::xpath_exception &) {
    // types that do not fit
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzedDataProvider draws(data, size);
  Generator generator(draws);
  pugi::xml_document document;
  generator.element(document.append_child(draws.PickValueInArray(NAMES)), 0);
  evaluate(document, generator.expression(0));

  unsigned format = draws.PickValueInArray({pugi::format_default, pugi::format_raw, pugi::format_indent_attributes,
                                            pugi::format_no_escapes, pugi::format_write_bom});
  auto encoding = draws.PickValueInArray({pugi::encoding_utf8, pugi::encoding_utf16_le, pugi::encoding_utf32_be, pugi::encoding_latin1});
  std::ostringstream written;
  document.save(written, "  ", format, encoding);
  unsigned options = draws.ConsumeIntegralInRange<unsigned>(0, pugi::parse_full);
  document.load_string(written.str().c_str(), options);
  return 0;
}
