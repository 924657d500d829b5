// Splits the input of a fuzz target into values: the class FuzzedDataProvider as LLVM's header of this name has it, written
// anew. The same calls take the same bytes and give the same values, so that inputs can be exchanged. When quagmire runs the
// target, it sees every draw; elsewhere this is plain code. C++11 and up.
//
// Numbers take bytes from the back of the input, the last byte first; text and bytes take them from the front, in order. Where
// fewer are left than a draw wants, it takes what is left.

// The guard of LLVM's header: of both, the first one counts. Older C++ cannot use it; QUAGMIRE_DRAWS=include includes it there, too.
#if defined(__cplusplus) && __cplusplus >= 201103L && !defined(LLVM_FUZZER_FUZZED_DATA_PROVIDER_H_)
#define LLVM_FUZZER_FUZZED_DATA_PROVIDER_H_

#include "../quagmire/draw_hooks.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/* Mark by which quagmire knows before the first run that there may be draws. */
#if defined(__ELF__)
__attribute__((used, section("qgm_draws"))) static const char qgm_provider_is_here = 1;
#endif

class FuzzedDataProvider {
public:
  // `data`, of `size` bytes, has to outlive this.
  FuzzedDataProvider(const uint8_t *data, size_t size) : data_ptr_(data), remaining_bytes_(size) {}
  ~FuzzedDataProvider() = default;
  FuzzedDataProvider(const FuzzedDataProvider &) = delete;
  FuzzedDataProvider &operator=(const FuzzedDataProvider &) = delete;

  // At most so many bytes, of a type of one byte.
  template <typename T> QGM_DRAWS std::vector<T> ConsumeBytes(size_t num_bytes) {
    begin(QGM_DRAW_BYTES, num_bytes);
    std::vector<T> bytes = takeVector<T>(num_bytes, 0);
    end();
    return bytes;
  }

  // The same, and a terminator behind them.
  template <typename T> QGM_DRAWS std::vector<T> ConsumeBytesWithTerminator(size_t num_bytes, T terminator = 0) {
    begin(QGM_DRAW_BYTES, num_bytes);
    std::vector<T> bytes = takeVector<T>(num_bytes, 1);
    bytes.back() = terminator;
    end();
    return bytes;
  }

  template <typename T> QGM_DRAWS std::vector<T> ConsumeRemainingBytes() {
    begin(QGM_DRAW_REST, remaining_bytes_);
    std::vector<T> bytes = takeVector<T>(remaining_bytes_, 0);
    end();
    return bytes;
  }

  QGM_DRAWS std::string ConsumeBytesAsString(size_t num_bytes) {
    begin(QGM_DRAW_BYTES, num_bytes);
    std::string text = takeString(num_bytes);
    end();
    return text;
  }

  QGM_DRAWS std::string ConsumeRemainingBytesAsString() {
    begin(QGM_DRAW_REST, remaining_bytes_);
    std::string text = takeString(remaining_bytes_);
    end();
    return text;
  }

  // Text that ends where a backslash is followed by something else than a backslash, after `max_length` characters, or with
  // the input. Two backslashes are one character.
  QGM_DRAWS std::string ConsumeRandomLengthString(size_t max_length) {
    begin(QGM_DRAW_TEXT, max_length);
    std::string text = takeText(max_length);
    end();
    return text;
  }

  QGM_DRAWS std::string ConsumeRandomLengthString() {
    begin(QGM_DRAW_TEXT, remaining_bytes_);
    std::string text = takeText(remaining_bytes_);
    end();
    return text;
  }

  // Stores at most so many bytes, and returns how many.
  QGM_DRAWS size_t ConsumeData(void *destination, size_t num_bytes) {
    begin(QGM_DRAW_BYTES, num_bytes);
    size_t taken = std::min(num_bytes, remaining_bytes_);
    copy(destination, taken);
    end();
    return taken;
  }

  // Any number of a type. If nothing is left, the smallest one.
  template <typename T> QGM_DRAWS T ConsumeIntegral() {
    return drawInRange<T>(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  }

  // A number from `min` to `max`, both included. If nothing is left, `min`.
  template <typename T> QGM_DRAWS T ConsumeIntegralInRange(T min, T max) { return drawInRange<T>(min, max); }

  QGM_DRAWS bool ConsumeBool() {
    begin(QGM_DRAW_FLIP, 1, 1);
    bool flag = takeFlag();
    end(flag);
    return flag;
  }

  // A value of an enumeration from 0 to kMaxValue.
  template <typename T> QGM_DRAWS T ConsumeEnum() {
    static_assert(std::is_enum<T>::value, "an enumeration is needed");
    return static_cast<T>(drawPick<uint32_t>(static_cast<uint32_t>(T::kMaxValue)));
  }

  template <typename T, size_t size> QGM_DRAWS T PickValueInArray(const T (&array)[size]) {
    static_assert(size > 0, "an array with elements is needed");
    return array[drawPick<size_t>(size - 1)];
  }

  template <typename T, size_t size> QGM_DRAWS T PickValueInArray(const std::array<T, size> &array) {
    static_assert(size > 0, "an array with elements is needed");
    return array[drawPick<size_t>(size - 1)];
  }

  template <typename T> QGM_DRAWS T PickValueInArray(std::initializer_list<const T> list) {
    if (list.size() == 0)
      abort();
    return *(list.begin() + drawPick<size_t>(list.size() - 1));
  }

  // From 0.0 to 1.0.
  template <typename T> QGM_DRAWS T ConsumeProbability() {
    begin(QGM_DRAW_REAL, std::numeric_limits<Bits<T>>::max(), sizeof(Bits<T>));
    T probability = takeProbability<T>();
    end();
    return probability;
  }

  template <typename T> QGM_DRAWS T ConsumeFloatingPoint() {
    return drawReal<T>(std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
  }

  template <typename T> QGM_DRAWS T ConsumeFloatingPointInRange(T min, T max) { return drawReal<T>(min, max); }

  QGM_DRAWS size_t remaining_bytes() {
    begin(QGM_DRAW_SIZE, 0);
    end(remaining_bytes_);
    return remaining_bytes_;
  }

private:
  // The same two, in this order, as in LLVM's: objects that were compiled with that can be linked with others.
  const uint8_t *data_ptr_;
  size_t remaining_bytes_;

  // Unsigned numbers that a floating-point number is made of.
  template <typename T> using Bits = typename std::conditional<sizeof(T) <= sizeof(uint32_t), uint32_t, uint64_t>::type;

  QGM_IN_DRAWS void begin(qgm_draw_kind kind, uint64_t range, size_t fromBack = 0) {
    (void)kind, (void)range, (void)fromBack;
    QGM_BEGIN_DRAW(kind, data_ptr_, remaining_bytes_, range, std::min(fromBack, remaining_bytes_));
  }

  QGM_IN_DRAWS void end(uint64_t value = 0) {
    (void)value;
    QGM_END_DRAW(data_ptr_, remaining_bytes_, value);
  }

  QGM_IN_DRAWS void copy(void *destination, size_t size) {
    if (size > 0)
      std::memcpy(destination, data_ptr_, size);
    data_ptr_ += size;
    remaining_bytes_ -= size;
  }

  template <typename T> QGM_IN_DRAWS std::vector<T> takeVector(size_t wanted, size_t more) {
    static_assert(sizeof(T) == sizeof(uint8_t), "a type of one byte is needed");
    size_t taken = std::min(wanted, remaining_bytes_);
    std::vector<T> bytes(taken + more);
    copy(bytes.data(), taken);
    // so that a sanitizer sees what is read behind the end
    bytes.shrink_to_fit();
    return bytes;
  }

  QGM_IN_DRAWS std::string takeString(size_t wanted) {
    size_t taken = std::min(wanted, remaining_bytes_);
    std::string text(reinterpret_cast<const char *>(data_ptr_), taken);
    data_ptr_ += taken;
    remaining_bytes_ -= taken;
    return text;
  }

  QGM_IN_DRAWS std::string takeText(size_t longest) {
    std::string text;
    text.reserve(std::min(longest, remaining_bytes_));
    while (text.size() < longest && remaining_bytes_ > 0) {
      char next;
      copy(&next, 1);
      if (next == '\\' && remaining_bytes_ > 0) {
        copy(&next, 1);
        if (next != '\\')
          break;
      }
      text.push_back(next);
    }
    text.shrink_to_fit();
    return text;
  }

  // Number of bytes of a number up to `range`, of a type of `size` bytes.
  static QGM_IN_DRAWS size_t bytesOf(uint64_t range, size_t size) {
    size_t bytes = 0;
    while (bytes < size && (range >> (bytes * CHAR_BIT)) > 0)
      ++bytes;
    return bytes;
  }

  // A number up to `range`, of a type of `size` bytes.
  QGM_IN_DRAWS uint64_t takeNumber(uint64_t range, size_t size) {
    uint64_t number = 0;
    for (size_t bits = 0; bits < size * CHAR_BIT && (range >> bits) > 0 && remaining_bytes_ > 0; bits += CHAR_BIT)
      number = (number << CHAR_BIT) | data_ptr_[--remaining_bytes_];
    return range == UINT64_MAX ? number : number % (range + 1);
  }

  QGM_IN_DRAWS bool takeFlag() { return takeNumber(UINT8_MAX, 1) & 1; }

  template <typename T> QGM_IN_DRAWS T takeProbability() {
    static_assert(std::is_floating_point<T>::value, "a floating-point type is needed");
    const Bits<T> most = std::numeric_limits<Bits<T>>::max();
    T probability = static_cast<T>(takeNumber(most, sizeof(Bits<T>)));
    probability /= static_cast<T>(most);
    return probability;
  }

  template <typename T> QGM_IN_DRAWS T drawInRange(T min, T max) {
    static_assert(std::is_integral<T>::value && sizeof(T) <= sizeof(uint64_t), "an integer is needed");
    if (min > max)
      abort();
    uint64_t range = static_cast<uint64_t>(max) - static_cast<uint64_t>(min);
    begin(QGM_DRAW_INTEGER, range, bytesOf(range, sizeof(T)));
    uint64_t number = takeNumber(range, sizeof(T));
    end(number);
    return static_cast<T>(static_cast<uint64_t>(min) + number);
  }

  template <typename T> QGM_IN_DRAWS T drawPick(T last) {
    begin(QGM_DRAW_PICK, last, bytesOf(last, sizeof(T)));
    T number = static_cast<T>(takeNumber(last, sizeof(T)));
    end(number);
    return number;
  }

  template <typename T> QGM_IN_DRAWS T drawReal(T min, T max) {
    if (min > max)
      abort();
    constexpr T zero(.0);
    // the range overflows: a flag chooses one of its halves
    bool isWide = max > zero && min < zero && max > min + std::numeric_limits<T>::max();
    begin(QGM_DRAW_REAL, std::numeric_limits<Bits<T>>::max(), sizeof(Bits<T>) + isWide);
    T range = isWide ? static_cast<T>((max / 2.0) - (min / 2.0)) : max - min;
    T result = min;
    if (isWide && takeFlag())
      result += range;
    T probability = takeProbability<T>();
    end();
    return result + range * probability;
  }
};

#endif
