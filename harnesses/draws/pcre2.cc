// Compiles a drawn regular expression with drawn options, and looks for it in the rest of the input with PCRE2, in one of its
// ways. See README.md.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <fuzzer/FuzzedDataProvider.h>
#include <pcre2.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/accepted.h"

namespace {

constexpr uint32_t STEPS = 200000, DEPTH = 1000, KIB = 20000, NESTING = 100;

enum class Way { Match, Automaton, Substitute, Information, kMaxValue = Information };

uint32_t some_of(FuzzedDataProvider &draws, const std::vector<uint32_t> &flags) {
  uint32_t chosen = 0;
  for (uint32_t flag : flags) chosen |= draws.ConsumeBool() ? flag : 0;
  return chosen;
}

pcre2_code *compile(FuzzedDataProvider &draws) {
  uint32_t options = some_of(draws, {PCRE2_CASELESS, PCRE2_MULTILINE, PCRE2_DOTALL, PCRE2_EXTENDED, PCRE2_ANCHORED, PCRE2_UNGREEDY,
                                     PCRE2_UTF, PCRE2_UCP, PCRE2_DUPNAMES, PCRE2_NO_AUTO_POSSESS, PCRE2_NO_START_OPTIMIZE,
                                     PCRE2_ALLOW_EMPTY_CLASS, PCRE2_ALT_BSUX, PCRE2_MATCH_UNSET_BACKREF});
  if (draws.ConsumeProbability<double>() < 0.05) options |= PCRE2_LITERAL;
  pcre2_compile_context *limits = pcre2_compile_context_create(nullptr);
  pcre2_set_parens_nest_limit(limits, NESTING);
  pcre2_set_newline(limits, draws.ConsumeIntegralInRange<uint32_t>(PCRE2_NEWLINE_CR, PCRE2_NEWLINE_NUL));
  pcre2_set_bsr(limits, draws.ConsumeBool() ? PCRE2_BSR_UNICODE : PCRE2_BSR_ANYCRLF);
  pcre2_set_compile_extra_options(limits, some_of(draws, {PCRE2_EXTRA_BAD_ESCAPE_IS_LITERAL, PCRE2_EXTRA_MATCH_WORD,
                                                          PCRE2_EXTRA_MATCH_LINE, PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK}));
  std::string pattern = draws.ConsumeRandomLengthString(256);
  int error;
  PCRE2_SIZE where;
  pcre2_code *code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &error, &where, limits);
  pcre2_compile_context_free(limits);
  return code;
}

void apply(FuzzedDataProvider &draws, pcre2_code *code, pcre2_match_data *found, pcre2_match_context *bounds) {
  Way way = draws.ConsumeEnum<Way>();
  uint32_t options = some_of(draws, {PCRE2_NOTBOL, PCRE2_NOTEOL, PCRE2_NOTEMPTY, PCRE2_PARTIAL_SOFT, PCRE2_ANCHORED});
  uint32_t replacing = some_of(draws, {PCRE2_SUBSTITUTE_GLOBAL, PCRE2_SUBSTITUTE_EXTENDED, PCRE2_SUBSTITUTE_UNSET_EMPTY,
                                       PCRE2_SUBSTITUTE_LITERAL});
  std::string replacement = way == Way::Substitute ? draws.ConsumeRandomLengthString(32) : "";
  std::vector<uint8_t> subject = draws.ConsumeRemainingBytes<uint8_t>();
  subject.push_back(0); // never empty
  std::size_t length = subject.size() - 1;
  int work[100];
  PCRE2_UCHAR output[4096];
  PCRE2_SIZE room = sizeof output;
  switch (way) {
  case Way::Match: pcre2_match(code, subject.data(), length, 0, options, found, bounds); break;
  case Way::Automaton: pcre2_dfa_match(code, subject.data(), length, 0, options, found, bounds, work, 100); break;
  case Way::Substitute:
    pcre2_substitute(code, subject.data(), length, 0, (options & ~PCRE2_PARTIAL_SOFT) | replacing, found, bounds,
                     reinterpret_cast<PCRE2_SPTR>(replacement.data()), replacement.size(), output, &room);
    break;
  case Way::Information:
    for (uint32_t what = 0; what <= PCRE2_INFO_EXTRAOPTIONS; ++what) {
      uint64_t answer[4];
      pcre2_pattern_info(code, what, answer);
    }
    break;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzedDataProvider draws(data, size);
  pcre2_code *code = compile(draws);
  if (!code) return 0;
  accepted();
  pcre2_match_context *bounds = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(bounds, STEPS);
  pcre2_set_depth_limit(bounds, DEPTH);
  pcre2_set_heap_limit(bounds, KIB);
  pcre2_match_data *found = pcre2_match_data_create_from_pattern(code, nullptr);
  apply(draws, code, found, bounds);
  pcre2_match_data_free(found);
  pcre2_match_context_free(bounds);
  pcre2_code_free(code);
  return 0;
}
