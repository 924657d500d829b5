// Records behind a field that tells their length or number. See README.md.
#include "laws.h"

enum { RECORD = 8 };

// Each record of eight bytes is compared with all before it.
static int each_with_all(const uint8_t *data, size_t count) {
  uint64_t equal = 0;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) equal += same_bytes(data + i * RECORD, data + j * RECORD, RECORD);
  }
  kept = equal;
  return 0;
}

// "RIFF", the length of what follows, records.
PARSER(riff_records) {
  if (size < 8 || !same_bytes(data, (const uint8_t *)"RIFF", 4) || little_endian(data + 4, 4) != size - 8) return -1;
  return each_with_all(data + 8, (size - 8) / RECORD);
}

// The same, and each record is looked at once.
PARSER(riff_linear) {
  if (size < 8 || !same_bytes(data, (const uint8_t *)"RIFF", 4) || little_endian(data + 4, 4) != size - 8) return -1;
  uint64_t state = 1;
  for (size_t i = 8; i < size; ++i) state = stir(state + data[i]);
  kept = state;
  return 0;
}

// Chunks of a name, a length and a body, behind the header of the file. Each name is looked for from the first chunk on.
PARSER(riff_chunks) {
  if (size < 12 || !same_bytes(data, (const uint8_t *)"RIFF", 4) || little_endian(data + 4, 4) != size - 8) return -1;
  uint64_t seen = 0;
  for (size_t at = 12, length; at + 8 <= size; at += 8 + length + (length & 1)) {
    length = little_endian(data + at + 4, 4);
    if (length > size - at - 8) return -1;
    for (size_t before = 12; before < at; ++seen) {
      if (same_bytes(data + before, data + at, 4)) break;
      size_t skip = little_endian(data + before + 4, 4);
      before += 8 + skip + (skip & 1);
    }
  }
  kept = seen;
  return 0;
}

// Reads tag and length of DER, the short form or the long one. Returns the bytes of both; 0 if they are not valid.
static size_t der_header(const uint8_t *data, size_t size, size_t *length) {
  if (size < 2) return 0;
  *length = data[1];
  if (data[1] < 0x80) return *length <= size - 2 ? 2 : 0;
  size_t more = data[1] & 0x7f;
  if (more == 0 || more > 4 || size < 2 + more) return 0;
  *length = big_endian(data + 2, more);
  return *length <= size - 2 - more ? 2 + more : 0;
}

// A SET: no element may come twice, which is looked for from the first on.
PARSER(der_set) {
  size_t length, header = der_header(data, size, &length), count = 0;
  if (!header || data[0] != 0x31 || header + length != size) return -1;
  struct part *parts = malloc((size / 2 + 1) * sizeof *parts);
  struct part text = {data + header, length};
  for (size_t inner, step; parts && text.size > 0; text.data += step, text.size -= step) {
    step = der_header(text.data, text.size, &inner);
    if (!step) break;
    step += inner;
    struct part element = {text.data, step};
    if (find_part(parts, count, element) == count) parts[count++] = element;
  }
  kept = count;
  free(parts);
  return text.size > 0 ? -1 : 0;
}

// A sequence in a sequence, as certificates are: the names of the extensions in the inner one are compared with each other.
PARSER(der_extensions) {
  size_t length, header = der_header(data, size, &length);
  if (!header || data[0] != 0x30 || header + length != size) return -1;
  return der_set(data + header, length);
}

// Each level of constructed elements is checked for its length by a walk through all it holds.
static int der_depth(const uint8_t *data, size_t size, uint64_t *steps) {
  size_t length, header = der_header(data, size, &length);
  if (!header || header + length != size) return -1;
  for (size_t i = 0; i < length; ++i) *steps = stir(*steps + data[header + i]);
  return data[0] == 0x30 && length > 0 ? der_depth(data + header, length, steps) : 0;
}

PARSER(der_nested) {
  uint64_t steps = 1;
  int valid = der_depth(data, size, &steps);
  kept = steps;
  return valid;
}

static size_t varint(const uint8_t *data, size_t size, uint64_t *value) {
  *value = 0;
  for (size_t i = 0; i < size && i < 10; ++i) {
    *value |= (uint64_t)(data[i] & 0x7f) << 7 * i;
    if (data[i] < 0x80) return i + 1;
  }
  return 0;
}

// A varint with the length of the message, then fields of a tag, a varint and as many bytes; no text may come twice.
PARSER(varint_fields) {
  uint64_t length;
  size_t header = varint(data, size, &length), count = 0;
  if (!header || length != size - header) return -1;
  struct part *parts = malloc((size / 2 + 1) * sizeof *parts);
  size_t at = header;
  while (parts && at + 2 <= size && data[at] == 0x0a) {
    size_t used = varint(data + at + 1, size - at - 1, &length);
    if (!used || length > size - at - 1 - used) break;
    struct part field = {data + at + 1 + used, length};
    if (find_part(parts, count, field) == count) parts[count++] = field;
    at += 1 + used + length;
  }
  kept = count;
  free(parts);
  return at < size ? -1 : 0;
}

// "M.", the number of records in 16 bits, four bytes of flags, and exactly so many records.
PARSER(counted_records) {
  if (size < 8 || data[0] != 'M' || big_endian(data + 2, 2) * RECORD != size - 8) return -1;
  return each_with_all(data + 8, (size - 8) / RECORD);
}

// The number is a smaller one at times: what is behind so many records is ignored.
PARSER(counted_at_most) {
  if (size < 8 || data[0] != 'M' || big_endian(data + 2, 2) * RECORD > size - 8) return -1;
  return each_with_all(data + 8, big_endian(data + 2, 2));
}

// "4800:", 4,800 bytes of records, ",".
PARSER(decimal_length) {
  size_t at = 0, length = 0;
  for (; at < size && at < 9 && data[at] >= '0' && data[at] <= '9'; ++at) length = length * 10 + (data[at] - '0');
  if (at == 0 || at == size || data[at] != ':' || size - at - 1 != length + 1 || data[size - 1] != ',') return -1;
  return each_with_all(data + at + 1, length / RECORD);
}

// The length tells of the header, too.
PARSER(whole_length) {
  if (size < 12 || big_endian(data + 4, 4) != size) return -1;
  return each_with_all(data + 12, (size - 12) / RECORD);
}

// Boxes in boxes, as films have them: three lengths tell of the same records.
PARSER(nested_lengths) {
  size_t at = 0;
  for (const char *name = "moovtrakstsz"; *name; name += 4, at += 8) {
    if (size < at + 8 || big_endian(data + at, 4) != size - at || !same_bytes(data + at + 4, (const uint8_t *)name, 4)) return -1;
  }
  return each_with_all(data + at, (size - at) / RECORD);
}

// A length in front of the records and the number of them behind: both must fit.
PARSER(length_and_count) {
  if (size < 8 || little_endian(data, 4) != size - 8 || little_endian(data + size - 4, 4) * RECORD != size - 8) return -1;
  return each_with_all(data + 4, (size - 8) / RECORD);
}

// "300" in a line of its own, then so many lines, in which each is looked for among those before.
PARSER(counted_lines) {
  struct part text = {data, size}, first = take_until(&text, "\n");
  size_t wanted = 0, count = 0;
  for (size_t i = 0; i < first.size && i < 8; ++i) wanted = wanted * 10 + (first.data[i] - '0');
  struct part *parts = malloc((size + 1) * sizeof *parts);
  size_t lines = 0;
  for (; parts && text.size > 0; ++lines) {
    struct part line = take_until(&text, "\n");
    if (find_part(parts, count, line) == count) parts[count++] = line;
    if (lines == wanted) break;
  }
  kept = count;
  free(parts);
  return lines == wanted ? 0 : -1;
}

static uint32_t adler(const uint8_t *data, size_t size) {
  uint32_t low = 1, high = 0;
  for (size_t i = 0; i < size; ++i) low = (low + data[i]) % 65521, high = (high + low) % 65521;
  return high << 16 | low;
}

// A checksum behind the records: nothing else of this kind is accepted.
PARSER(checksum_behind) {
  if (size < 8 || big_endian(data, 4) != size - 8 || big_endian(data + size - 4, 4) != adler(data + 4, size - 8)) return -1;
  return each_with_all(data + 4, (size - 8) / RECORD);
}

// Without a length: the checksum alone makes all others invalid.
PARSER(checksum_in_front) {
  if (size < 4 || big_endian(data, 4) != adler(data + 4, size - 4)) return -1;
  return each_with_all(data + 4, (size - 4) / RECORD);
}

// A table of offsets to texts that end with a zero; each is compared with all in front of it.
PARSER(offset_table) {
  if (size < 4) return -1;
  size_t count = big_endian(data + 2, 2), end = 4 + count * 4;
  if (end > size) return -1;
  struct part *parts = malloc((count + 1) * sizeof *parts);
  size_t known = 0;
  int valid = 0;
  for (size_t i = 0; parts && i < count; ++i) {
    size_t from = big_endian(data + 4 + i * 4, 4), to = from;
    if (from < end || from >= size) valid = -1;
    while (valid == 0 && to < size && data[to]) ++to;
    struct part text = {data + from, to - from};
    if (valid < 0) break;
    if (find_part(parts, known, text) == known) parts[known++] = text;
  }
  kept = known;
  free(parts);
  return valid;
}

// Three records at a time, behind a length.
PARSER(length_cubic) {
  if (size < 4 || little_endian(data, 4) != size - 4) return -1;
  size_t count = (size - 4) / RECORD;
  uint64_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      for (size_t k = 0; k < j; ++k) state = stir(state + data[4 + i * RECORD] + data[4 + j * RECORD] + data[4 + k * RECORD]);
    }
  }
  kept = state;
  return 0;
}
