// Builds and changes JSON values by a sequence of calls that the input picks, with jansson. See README.md.
#include <fuzzer/FuzzedDataProvider.h>
#include <jansson.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "../common/accepted.h"

namespace {

enum class Call { Create, Set, Append, Insert, Remove, Delete, Update, Extend, Copy, Compare, Iterate, Write, Read, kMaxValue = Read };

constexpr int MOST_CALLS = 200;
constexpr std::size_t MOST_VALUES = 12, MOST_PARTS = 2000;

// Number of values in a value, itself included.
std::size_t parts(const json_t *value) {
  std::size_t sum = 1;
  const char *key;
  std::size_t index;
  json_t *part;
  json_object_foreach(const_cast<json_t *>(value), key, part) sum += parts(part);
  json_array_foreach(value, index, part) sum += parts(part);
  return sum;
}

class Sequence {
 public:
  explicit Sequence(FuzzedDataProvider &draws) : draws(draws) { values.push_back(json_object()); }
  ~Sequence() {
    for (json_t *value : values) json_decref(value);
  }
  Sequence(const Sequence &) = delete;

  void run() {
    for (int calls = 0; calls < MOST_CALLS && draws.remaining_bytes() > 0; ++calls) make(draws.ConsumeEnum<Call>());
    free(json_dumps(values.front(), JSON_SORT_KEYS | JSON_INDENT(2)));
  }

 private:
  json_t *any() { return values[draws.ConsumeIntegralInRange<std::size_t>(0, values.size() - 1)]; }

  std::string key() {
    static const char *const KEYS[] = {"a", "b", "c", "id", "name", ""};
    return draws.ConsumeBool() ? draws.PickValueInArray(KEYS) : draws.ConsumeRandomLengthString(12);
  }

  // A copy of any value that `target` has room for, or NULL: jansson's calls then fail. Copies share nothing, so that no
  // value gets into itself.
  json_t *part_for(const json_t *target) {
    const json_t *part = any();
    return parts(target) + parts(part) <= MOST_PARTS ? json_deep_copy(part) : nullptr;
  }

  json_t *create() {
    switch (draws.ConsumeIntegralInRange(0, 7)) {
    case 0: return json_object();
    case 1: return json_array();
    case 2: {
      std::string text = draws.ConsumeRandomLengthString(40);
      return json_stringn(text.data(), text.size()); // NULL if it is not UTF-8
    }
    case 3: return json_integer(draws.ConsumeIntegral<json_int_t>());
    case 4: return json_real(draws.ConsumeFloatingPoint<double>());
    case 5: return json_real(draws.ConsumeFloatingPointInRange(-1.0, 1.0));
    case 6: return json_boolean(draws.ConsumeBool());
    default: return json_null();
    }
  }

  void keep(json_t *value) {
    if (!value) return;
    if (values.size() < MOST_VALUES) {
      values.push_back(value);
      return;
    }
    json_t *&place = values[draws.ConsumeIntegralInRange<std::size_t>(1, values.size() - 1)];
    json_decref(place);
    place = value;
  }

  void make(Call call) {
    json_t *value = any();
    switch (call) {
    case Call::Create: return keep(create());
    case Call::Set: json_object_set_new(value, key().c_str(), part_for(value)); return;
    case Call::Append: json_array_append_new(value, part_for(value)); return;
    case Call::Insert: {
      std::size_t place = draws.ConsumeIntegralInRange<std::size_t>(0, json_array_size(value));
      json_array_insert_new(value, place, part_for(value));
      return;
    }
    case Call::Remove: json_array_remove(value, draws.ConsumeIntegral<uint8_t>()); return;
    case Call::Delete: json_object_del(value, key().c_str()); return;
    case Call::Update: return update(value);
    case Call::Extend: {
      json_t *copy = part_for(value);
      json_array_extend(value, copy);
      json_decref(copy);
      return;
    }
    case Call::Copy: return keep(json_deep_copy(value));
    case Call::Compare: json_equal(value, any()); return;
    case Call::Iterate: return iterate(value);
    case Call::Write: return write(value);
    case Call::Read: return read();
    }
  }

  void update(json_t *value) {
    json_t *copy = part_for(value);
    switch (draws.ConsumeIntegralInRange(0, 3)) {
    case 0: json_object_update(value, copy); break;
    case 1: json_object_update_existing(value, copy); break;
    case 2: json_object_update_missing(value, copy); break;
    default: json_object_update_recursive(value, copy); break;
    }
    json_decref(copy);
  }

  void iterate(json_t *value) {
    void *place = json_object_iter_at(value, key().c_str());
    while (place && draws.ConsumeProbability<float>() < 0.9F) {
      if (draws.ConsumeBool()) json_object_iter_set_new(value, place, json_integer(draws.ConsumeIntegral<int16_t>()));
      place = json_object_iter_next(value, place);
    }
  }

  void write(json_t *value) {
    static const std::size_t FLAGS[] = {JSON_COMPACT, JSON_ENSURE_ASCII, JSON_SORT_KEYS, JSON_ESCAPE_SLASH, JSON_EMBED};
    std::size_t flags = JSON_ENCODE_ANY | JSON_INDENT(draws.ConsumeIntegralInRange(0, 31));
    for (std::size_t flag : FLAGS) flags |= draws.ConsumeBool() ? flag : 0;
    flags |= JSON_REAL_PRECISION(draws.ConsumeIntegralInRange(0, 17));
    char *text = json_dumps(value, flags);
    if (!text) return;
    accepted();
    free(text);
  }

  void read() {
    std::string text = draws.ConsumeRandomLengthString(100);
    std::size_t flags = JSON_DECODE_ANY;
    if (draws.ConsumeBool()) flags |= JSON_REJECT_DUPLICATES;
    if (draws.ConsumeBool()) flags |= JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;
    json_error_t error;
    keep(json_loadb(text.data(), text.size(), flags, &error));
  }

  FuzzedDataProvider &draws;
  std::vector<json_t *> values;
};

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  json_object_seed(1); // otherwise a random one, and runs would not repeat themselves
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzedDataProvider draws(data, size);
  Sequence(draws).run();
  return 0;
}
