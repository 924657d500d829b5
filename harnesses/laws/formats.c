// Binary formats, read as small libraries do it: each is slow in one thing at most. See README.md.
#include "laws.h"

static int begins_with(const uint8_t *data, size_t size, const char *text, size_t length) {
  return size >= length && same_bytes(data, (const uint8_t *)text, length);
}

static uint32_t crc(const uint8_t *data, size_t size) {
  uint32_t sum = ~0u;
  for (size_t i = 0; i < size; ++i) {
    sum ^= data[i];
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum;
}

// PNG: chunks of length, name, body and sum; a keyword of a text is looked for in those before. A wrong sum ends it all if
// `strict`, and is not looked at otherwise.
static int png(const uint8_t *data, size_t size, int strict) {
  if (!begins_with(data, size, "\x89PNG\r\n\x1a\n", 8)) return -1;
  struct part *keywords = malloc((size / 12 + 1) * sizeof *keywords);
  size_t at = 8, count = 0;
  int ended = 0;
  while (keywords && !ended && at + 12 <= size) {
    size_t length = big_endian(data + at, 4);
    if (length > size - at - 12) break;
    if (strict && big_endian(data + at + 8 + length, 4) != crc(data + at + 4, length + 4)) break;
    if (begins_with(data + at + 4, 4, "tEXt", 4)) {
      struct part body = {data + at + 8, length};
      size_t end = 0;
      while (end < length && body.data[end]) ++end;
      body.size = end;
      if (find_part(keywords, count, body) == count) keywords[count++] = body;
    }
    ended = begins_with(data + at + 4, 4, "IEND", 4);
    at += 12 + length;
  }
  kept = count;
  free(keywords);
  return ended ? 0 : -1;
}

PARSER(png_texts) { return png(data, size, 0); }

PARSER(png_checked) { return png(data, size, 1); }

// Rows of an image, whose width comes from the header; each is filtered by the one above.
PARSER(image_rows) {
  if (!begins_with(data, size, "IMG", 3) || size < 8) return -1;
  size_t width = big_endian(data + 4, 2);
  uint64_t state = 1;
  for (size_t at = 8 + width; width > 0 && at < size; ++at) state = stir(state + data[at] - data[at - width]);
  kept = state;
  return 0;
}

// ZIP: local headers, each with the length of its name and body. Names are looked for from the first entry on, by the headers.
PARSER(zip_locals) {
  uint64_t steps = 0;
  size_t at = 0;
  for (size_t next; at + 30 <= size && begins_with(data + at, 4, "PK\3\4", 4); at = next) {
    struct part name = {data + at + 30, little_endian(data + at + 26, 2)};
    next = at + 30 + name.size + little_endian(data + at + 28, 2) + little_endian(data + at + 18, 4);
    if (next > size) return -1;
    for (size_t before = 0; before < at; ++steps) {
      struct part other = {data + before + 30, little_endian(data + before + 26, 2)};
      if (same_parts(name, other)) break;
      before += 30 + other.size + little_endian(data + before + 28, 2) + little_endian(data + before + 18, 4);
    }
  }
  kept = steps;
  return at > 0 ? 0 : -1;
}

// The directory is at the end, with its own place and the number of its entries: all must fit.
PARSER(zip_directory) {
  if (size < 22 || !begins_with(data + size - 22, 4, "PK\5\6", 4)) return -1;
  const uint8_t *end = data + size - 22;
  size_t entries = little_endian(end + 10, 2), length = little_endian(end + 12, 4), at = little_endian(end + 16, 4);
  if (at + length != size - 22) return -1;
  struct part *names = malloc((entries + 1) * sizeof *names);
  size_t count = 0, read = 0;
  for (; names && read < entries && at + 46 <= size && begins_with(data + at, 4, "PK\1\2", 4); ++read) {
    struct part name = {data + at + 46, little_endian(data + at + 28, 2)};
    if (name.size > size - at - 46) break;
    if (find_part(names, count, name) == count) names[count++] = name;
    at += 46 + name.size;
  }
  kept = count;
  free(names);
  return read == entries ? 0 : -1;
}

// Bytes of literals (0 to 127: so many and one) and copies (a length of 128 to 255, then a distance of two bytes).
static size_t unpack(const uint8_t *data, size_t size, uint8_t *to, size_t room) {
  size_t used = 0;
  for (size_t at = 0; at < size;) {
    size_t length = (data[at] & 0x7f) + 1, distance = 0;
    int is_copy = data[at++] & 0x80;
    if (is_copy) {
      if (at + 2 > size) break;
      distance = big_endian(data + at, 2) + 1, at += 2;
      if (distance > used) break;
    }
    if (length > room - used || (!is_copy && length > size - at)) break;
    for (size_t i = 0; i < length; ++i, ++used) to[used] = is_copy ? to[used - distance] : data[at++];
  }
  return used;
}

PROGRAM(lz_decoder) {
  size_t room = size * 128 + 1;
  uint8_t *to = malloc(room);
  kept = to ? unpack(data, size, to, room) : 0;
  free(to);
}

// What was unpacked is unpacked again, as often as the first byte says, up to four times.
PROGRAM(lz_in_lz) {
  if (size < 2) return;
  size_t room = 1 << 22, used = size - 1;
  uint8_t *from = malloc(room), *to = malloc(room);
  for (size_t i = 0; from && i < used && i < room; ++i) from[i] = data[i + 1];
  for (int round = 0; from && to && round < (data[0] & 3) + 1; ++round) {
    used = unpack(from, used, to, room);
    uint8_t *swap = from;
    from = to, to = swap;
  }
  kept = used;
  free(from);
  free(to);
}

// Looks for the longest match in all before each byte: no window, and no hash.
PROGRAM(lz_encoder) {
  uint64_t sum = 0;
  for (size_t at = 0, longest; at < size; at += longest ? longest : 1) {
    longest = 0;
    for (size_t from = 0; from < at; ++from) {
      size_t length = 0;
      while (length < 8 && at + length < size && data[from + length] == data[at + length]) ++length;
      if (length > longest) longest = length;
    }
    sum += longest;
  }
  kept = sum;
}

// Entries of "~", a letter and a body: those of one kind are chained, and a chain is walked for each new one.
PARSER(chained_blocks) {
  if (size < 4 || big_endian(data, 4) > size) return -1;
  size_t entry = 12, count = (size - 4) / entry;
  uint32_t *next = calloc(count + 1, sizeof *next), heads[256] = {0};
  for (size_t i = 0; next && i < count; ++i) {
    uint32_t *at = &heads[data[4 + i * entry]];
    while (*at) at = &next[*at - 1];
    *at = (uint32_t)i + 1;
  }
  kept = next ? heads[0] : 0;
  free(next);
  return 0;
}

// Glyph tables: for each of the points that a count tells of, all contours are looked through.
PARSER(points_in_contours) {
  if (size < 4) return -1;
  size_t points = big_endian(data, 2), contours = big_endian(data + 2, 2);
  if (4 + points * 2 + contours * 2 > size) return -1;
  uint64_t found = 0;
  for (size_t i = 0; i < points; ++i) {
    for (size_t j = 0; j < contours; ++j) found += big_endian(data + 4 + i * 2, 2) > big_endian(data + 4 + points * 2 + j * 2, 2);
  }
  kept = found;
  return 0;
}

// Code of two bytes an instruction: "j" goes back by its operand, once for each time it is met; "e" ends it.
PROGRAM(byte_code) {
  uint8_t *taken = calloc(size + 1, 1);
  uint64_t state = 1;
  for (size_t at = 0; taken && at + 2 <= size;) {
    state = stir(state + data[at]);
    if (data[at] == 'j' && !taken[at] && at >= 2u * data[at + 1]) {
      taken[at] = 1;
      at -= 2u * data[at + 1];
    } else {
      at += 2;
    }
  }
  kept = state;
  free(taken);
}
