// Compiles the first line of the input as a regular expression, and looks for it in the rest. See README.md.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../common/accepted.h"
#include "../common/shown.h"

enum { LONGEST_PATTERN = 4096, STEPS = 1000000, DEPTH = 1000, KIB = 20000, NESTING = 100 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
  size_t length = end ? (size_t)(end - data) : size;
  const uint8_t *subject = end ? end + 1 : data + size;
  if (length > LONGEST_PATTERN) return 0;

  pcre2_compile_context *limits = pcre2_compile_context_create(NULL);
  pcre2_set_parens_nest_limit(limits, NESTING);
  int error;
  PCRE2_SIZE where;
  pcre2_code *pattern = pcre2_compile(data, length, PCRE2_NEVER_BACKSLASH_C, &error, &where, limits);
  pcre2_compile_context_free(limits);
  if (!pattern) return 0;
  accepted();

  pcre2_match_context *bounds = pcre2_match_context_create(NULL);
  pcre2_set_match_limit(bounds, STEPS);
  pcre2_set_depth_limit(bounds, DEPTH);
  pcre2_set_heap_limit(bounds, KIB);
  pcre2_match_data *found = pcre2_match_data_create_from_pattern(pattern, NULL);
  int pairs = pcre2_match(pattern, subject, (PCRE2_SIZE)(data + size - subject), 0, 0, found, bounds);
  qgm_observe(&pairs, sizeof pairs);
  if (pairs > 0) qgm_observe(pcre2_get_ovector_pointer(found), 2 * (size_t)pairs * sizeof(PCRE2_SIZE));
  pcre2_match_data_free(found);
  pcre2_match_context_free(bounds);
  pcre2_code_free(pattern);
  return 0;
}
