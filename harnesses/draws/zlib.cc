// Compresses chunks of drawn sizes with drawn settings, and expands the result again, with zlib. See README.md.
#include <fuzzer/FuzzedDataProvider.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "../common/accepted.h"

namespace {

constexpr std::size_t MOST_BYTES = 1 << 16;
constexpr int MOST_CHUNKS = 40;

using Bytes = std::vector<uint8_t>;

const int FLUSHES[] = {Z_NO_FLUSH, Z_NO_FLUSH, Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK};
const int STRATEGIES[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};

// Windows of raw deflate, zlib and gzip are told by sign and size.
int window(FuzzedDataProvider &draws, int bits) {
  switch (draws.ConsumeIntegralInRange(0, 2)) {
  case 0: return -bits;
  case 1: return bits;
  default: return bits + 16;
  }
}

// Content of a chunk: as drawn, one byte repeated, or something from before.
Bytes chunk(FuzzedDataProvider &draws, const Bytes &before) {
  switch (draws.ConsumeIntegralInRange(0, 3)) {
  case 0: return draws.ConsumeBytes<uint8_t>(draws.ConsumeIntegralInRange<std::size_t>(0, 300));
  case 1: {
    std::size_t length = draws.ConsumeIntegralInRange<std::size_t>(0, 5000);
    return Bytes(length, draws.ConsumeIntegral<uint8_t>());
  }
  case 2: {
    if (before.empty()) return {};
    std::size_t start = draws.ConsumeIntegralInRange<std::size_t>(0, before.size() - 1);
    std::size_t length = std::min<std::size_t>(draws.ConsumeIntegralInRange<std::size_t>(0, 600), before.size() - start);
    return Bytes(before.begin() + static_cast<std::ptrdiff_t>(start), before.begin() + static_cast<std::ptrdiff_t>(start + length));
  }
  default: {
    std::string text = draws.ConsumeRandomLengthString(200);
    return Bytes(text.begin(), text.end());
  }
  }
}

// Gives `input` to the stream, and appends what comes out.
void deflate_all(z_stream &stream, Bytes &input, int flush, Bytes &output) {
  stream.next_in = input.data();
  stream.avail_in = static_cast<uInt>(input.size());
  uint8_t room[1024];
  int result;
  do {
    stream.next_out = room;
    stream.avail_out = sizeof room;
    result = deflate(&stream, flush);
    output.insert(output.end(), room, room + (sizeof room - stream.avail_out));
  } while (stream.avail_out == 0 && result == Z_OK);
}

// Expands `packed` in steps of a drawn size. What it expands to has to be `content`.
void check(FuzzedDataProvider &draws, Bytes &packed, const Bytes &content, int bits, const Bytes &dictionary) {
  z_stream stream = {};
  if (inflateInit2(&stream, bits) != Z_OK) return;
  if (bits < 0 && !dictionary.empty()) inflateSetDictionary(&stream, dictionary.data(), static_cast<uInt>(dictionary.size()));
  std::size_t step = draws.ConsumeIntegralInRange<std::size_t>(1, 2000);
  Bytes room(step), expanded;
  stream.next_in = packed.data();
  stream.avail_in = static_cast<uInt>(packed.size());
  int result = Z_OK;
  while (result == Z_OK || result == Z_NEED_DICT) {
    if (result == Z_NEED_DICT &&
        inflateSetDictionary(&stream, dictionary.data(), static_cast<uInt>(dictionary.size())) != Z_OK) break;
    stream.next_out = room.data();
    stream.avail_out = static_cast<uInt>(step);
    result = inflate(&stream, Z_NO_FLUSH);
    expanded.insert(expanded.end(), room.data(), room.data() + (step - stream.avail_out));
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || expanded != content) std::abort();
  accepted();
}

// Expands bytes that no compressor has made.
void expand(FuzzedDataProvider &draws) {
  Bytes packed = draws.ConsumeRemainingBytes<uint8_t>(), room(MOST_BYTES);
  z_stream stream = {};
  if (packed.empty() || inflateInit2(&stream, 15 + 32) != Z_OK) return;
  stream.next_in = packed.data();
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = room.data();
  stream.avail_out = static_cast<uInt>(room.size());
  inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzedDataProvider draws(data, size);
  int bits = window(draws, draws.ConsumeIntegralInRange(9, 15));
  int level = draws.ConsumeIntegralInRange(-1, 9);
  int memory = draws.ConsumeIntegralInRange(1, 9);
  z_stream stream = {};
  if (deflateInit2(&stream, level, Z_DEFLATED, bits, memory, draws.PickValueInArray(STRATEGIES)) != Z_OK) return 0;
  Bytes dictionary;
  if (draws.ConsumeBool()) dictionary = draws.ConsumeBytes<uint8_t>(draws.ConsumeIntegralInRange<std::size_t>(1, 200));
  if (dictionary.empty() || deflateSetDictionary(&stream, dictionary.data(), static_cast<uInt>(dictionary.size())) != Z_OK)
    dictionary.clear();
  if (draws.ConsumeProbability<float>() < 0.2F)
    deflateTune(&stream, draws.ConsumeIntegralInRange(1, 32), draws.ConsumeIntegralInRange(0, 258),
                draws.ConsumeIntegralInRange(1, 258), draws.ConsumeIntegralInRange(1, 4096));

  Bytes content, packed, none;
  int chunks = draws.ConsumeIntegralInRange(0, MOST_CHUNKS);
  for (int i = 0; i < chunks && content.size() < MOST_BYTES; ++i) {
    Bytes next = chunk(draws, content);
    content.insert(content.end(), next.begin(), next.end());
    deflate_all(stream, next, draws.PickValueInArray(FLUSHES), packed);
  }
  deflate_all(stream, none, Z_FINISH, packed);
  deflateEnd(&stream);
  check(draws, packed, content, bits, dictionary);
  expand(draws);
  return 0;
}
