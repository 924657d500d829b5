// Parses the input as XML with pugixml, and evaluates a path on it. See README.md.
#include <pugixml.hpp>

#include <cstddef>
#include <cstdint>

#include "../common/accepted.h"
#include "../common/shown.h"

namespace {

struct Count : pugi::xml_writer {
  std::size_t bytes = 0;
  void write(const void *data, std::size_t size) override {
    bytes += size;
    qgm_observe(data, size);
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  pugi::xml_document document;
  if (!document.load_buffer(data, size, pugi::parse_full, pugi::encoding_utf8)) return 0;
  accepted();
  static const pugi::xpath_query repeated("count(//*[@id = preceding-sibling::*/@id])");
  volatile double found = repeated.evaluate_number(document); // volatile: it must not be optimised away
  double number = found;
  qgm_observe(&number, sizeof number);
  Count count;
  document.save(count);
  return 0;
}
