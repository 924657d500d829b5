// Reads the metadata of an image.
#include <cstddef>
#include <cstdint>

#include <exiv2/exiv2.hpp>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Exiv2::LogMsg::setLevel(Exiv2::LogMsg::mute);
  try {
    Exiv2::ImageFactory::open(data, static_cast<long>(size))->readMetadata();
  } catch (const Exiv2::AnyError &) {
  }
  return 0;
}
