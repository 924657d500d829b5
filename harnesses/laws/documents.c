// Text formats, read as small libraries do it: each is slow in one thing at most. See README.md.
#include "laws.h"

static struct part *parts_for(size_t count) { return malloc((count + 1) * sizeof(struct part)); }

static int is_blank(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r'; }

// JSON: what is being read, and whether keys must differ, and whether each array asks for its length first.
struct json {
  const uint8_t *data;
  size_t size, at;
  int unique, measured, depth;
};

// A letter of a number, or of true, false and null.
static int is_plain(uint8_t byte) { return (byte >= '+' && byte <= '9' && byte != ',') || (byte >= 'a' && byte <= 'z'); }

static int json_value(struct json *json);

static void json_blanks(struct json *json) {
  while (json->at < json->size && is_blank(json->data[json->at])) ++json->at;
}

static int json_is(struct json *json, uint8_t wanted) {
  json_blanks(json);
  if (json->at == json->size || json->data[json->at] != wanted) return 0;
  ++json->at;
  return 1;
}

static int json_string(struct json *json, struct part *text) {
  if (!json_is(json, '"')) return 0;
  text->data = json->data + json->at;
  while (json->at < json->size && json->data[json->at] != '"') json->at += json->data[json->at] == '\\' ? 2 : 1;
  if (json->at >= json->size) return 0;
  text->size = (size_t)(json->data + json->at++ - text->data);
  return 1;
}

static int json_object(struct json *json) {
  size_t room = 8, count = 0;
  struct part *keys = parts_for(room);
  int valid = keys != NULL && json_is(json, '}') ? 2 : keys != NULL;
  for (struct part key; valid == 1;) {
    valid = json_string(json, &key) && json_is(json, ':') && json_value(json);
    if (!valid) break;
    if (count == room) {
      struct part *larger = realloc(keys, (room *= 2) * sizeof *keys);
      if (!larger) break;
      keys = larger;
    }
    if (!json->unique || find_part(keys, count, key) == count) keys[count++] = key;
    if (json_is(json, ',')) continue;
    valid = json_is(json, '}') ? 2 : 0;
  }
  free(keys);
  return valid == 2;
}

// The bytes up to the bracket that closes.
static size_t json_length(const struct json *json) {
  size_t depth = 1, at = json->at;
  for (; at < json->size && depth > 0; ++at) depth += (json->data[at] == '[') - (json->data[at] == ']');
  return at;
}

static int json_array(struct json *json) {
  if (json->measured) kept = json_length(json);
  if (json_is(json, ']')) return 1;
  do {
    if (!json_value(json)) return 0;
  } while (json_is(json, ','));
  return json_is(json, ']');
}

static int json_value(struct json *json) {
  struct part text;
  if (json->depth > 20000) return 0;
  ++json->depth;
  int valid;
  json_blanks(json);
  if (json_is(json, '{')) {
    valid = json_object(json);
  } else if (json_is(json, '[')) {
    valid = json_array(json);
  } else if (json->at < json->size && json->data[json->at] == '"') {
    valid = json_string(json, &text);
  } else {
    size_t from = json->at;
    while (json->at < json->size && is_plain(json->data[json->at])) ++json->at;
    valid = json->at > from;
  }
  --json->depth;
  return valid;
}

// Two bytes of options come before the text: whether keys must differ, and whether arrays are measured.
PROGRAM(json_options) {
  if (size < 2) return;
  struct json json = {data + 2, size - 2, 0, data[0] & 1, data[1] & 1, 0};
  kept = (uint64_t)json_value(&json);
}

// Four bytes of options behind the text.
PROGRAM(json_options_behind) {
  if (size < 4) return;
  struct json json = {data, size - 4, 0, data[size - 4] & 1, data[size - 1] & 1, 0};
  kept = (uint64_t)json_value(&json);
}

// INI: a key is looked for in all of its section, a section in all sections.
PROGRAM(ini) {
  struct part *sections = parts_for(size), *keys = parts_for(size), text = {data, size};
  uint32_t *places = calloc(size + 1, sizeof *places), place = 0;
  size_t count = 0, known = 0;
  while (sections && keys && places && text.size > 0) {
    struct part line = take_until(&text, "\n");
    if (line.size == 0 || *line.data == ';') continue;
    if (*line.data == '[') {
      place = (uint32_t)find_part(sections, known, line);
      if (place == known) sections[known++] = line;
      continue;
    }
    struct part key = take_until(&line, "=");
    size_t at = 0;
    while (at < count && (places[at] != place || !same_parts(keys[at], key))) ++at;
    if (at == count) keys[count] = key, places[count++] = place;
  }
  kept = count;
  free(sections);
  free(keys);
  free(places);
}

// XML: elements, their attributes, and text. `path`: the path of an element is built anew; `unique`: attributes must differ;
// `spaces`: the prefix of a name is looked for in the attributes of all elements that are open.
static int xml(const uint8_t *data, size_t size, int path, int unique, int spaces) {
  struct part *open = parts_for(size), *attributes = parts_for(size), text = {data, size};
  size_t *first = calloc(size + 1, sizeof *first), depth = 0, count = 0;
  uint64_t work = 1;
  int valid = open && attributes && first;
  while (valid && text.size > 0) {
    take_until(&text, "<");
    struct part tag = take_until(&text, ">");
    if (tag.size == 0) break;
    if (*tag.data == '/') {
      struct part name = {tag.data + 1, tag.size - 1};
      valid = depth > 0 && same_parts(open[depth - 1], name);
      if (valid) count = first[--depth];
      continue;
    }
    int closed = tag.data[tag.size - 1] == '/';
    tag.size -= closed;
    struct part name = take_until(&tag, " ");
    open[depth] = name, first[depth++] = count;
    while (tag.size > 0) {
      struct part attribute = take_until(&tag, " "), key = take_until(&attribute, "=");
      if (unique && find_part(attributes + first[depth - 1], count - first[depth - 1], key) < count - first[depth - 1]) valid = 0;
      attributes[count++] = key;
    }
    for (size_t i = 0; path && i < depth; ++i) {
      for (size_t j = 0; j < open[i].size; ++j) work = stir(work + open[i].data[j]);
    }
    struct part prefix = take_until(&name, ":");
    for (size_t i = count; spaces && i-- > 0 && !same_parts(attributes[i], prefix);) work = stir(work + i);
    if (closed) count = first[--depth];
  }
  kept = work;
  free(open);
  free(attributes);
  free(first);
  return valid && depth == 0 ? 0 : -1;
}

PARSER(xml_paths) { return xml(data, size, 1, 0, 0); }

PARSER(xml_attributes) { return xml(data, size, 0, 1, 0); }

PARSER(xml_spaces) { return xml(data, size, 0, 0, 1); }

PARSER(xml_plain) { return xml(data, size, 0, 0, 0); }

static void entity(const struct part *names, const struct part *values, size_t count, struct part text) {
  while (text.size > 0) {
    struct part before = take_until(&text, "&");
    kept = before.size;
    if (text.size == 0) break;
    struct part name = take_until(&text, ";");
    size_t at = find_part(names, count, name);
    // those before alone, so that there is an end
    if (at < count) entity(names, values, at, values[at]);
  }
}

// Lines "name value"; "&name;" stands for its value, and the value of the last one is expanded.
PROGRAM(entities) {
  struct part *names = parts_for(size), *values = parts_for(size), text = {data, size};
  size_t count = 0;
  while (names && values && text.size > 0) {
    struct part line = take_until(&text, "\n");
    names[count] = take_until(&line, " "), values[count++] = line;
  }
  if (names && values && count > 0) entity(names, values, count - 1, values[count - 1]);
  free(names);
  free(values);
}

// Markdown: links look for their ends, `code` for a run of as many ticks, and emphasis for what opens it.
static void markdown(const uint8_t *data, size_t size, int links, int ticks, int stars) {
  size_t *open = malloc((size + 1) * sizeof *open), opened = 0;
  uint64_t found = 0;
  for (size_t at = 0; open && at < size; ++at) {
    size_t end = at + 1;
    if (data[at] == '\n' && at + 1 < size && data[at + 1] == '\n') opened = 0;
    if (data[at] == '[' && links) {
      while (end < size && data[end] != ']') ++end;
      found += end < size;
    }
    if (data[at] == '`' && ticks) {
      size_t run = 1;
      while (at + run < size && data[at + run] == '`') ++run;
      for (end = at + run; end < size;) {
        size_t other = 0;
        while (end + other < size && data[end + other] == '`') ++other;
        if (other == run) break;
        end += other + 1;
      }
      found += end < size, at += run - 1;
    }
    if ((data[at] == '*' || data[at] == '_') && stars) {
      int opens = at + 1 < size && !is_blank(data[at + 1]), closes = at > 0 && !is_blank(data[at - 1]);
      size_t from = opened;
      while (closes && from > 0 && data[open[from - 1]] != data[at]) --from;
      if (closes && from > 0) {
        opened = from - 1, ++found;
      } else if (opens) {
        open[opened++] = at;
      }
    }
  }
  kept = found;
  free(open);
}

PROGRAM(markdown_links) { markdown(data, size, 1, 0, 0); }

PROGRAM(markdown_ticks) { markdown(data, size, 0, 1, 0); }

PROGRAM(markdown_stars) { markdown(data, size, 0, 0, 1); }

PROGRAM(markdown_plain) { markdown(data, size, 1, 1, 1); }

// Lines that are indented by more than those before belong to them: the level is looked for from the top.
PROGRAM(indented_lines) {
  size_t *levels = malloc((size + 1) * sizeof *levels), depth = 0;
  uint64_t steps = 0;
  struct part text = {data, size};
  while (levels && text.size > 0) {
    struct part line = take_until(&text, "\n");
    size_t indent = 0, at = 0;
    while (indent < line.size && line.data[indent] == ' ') ++indent;
    while (at < depth && levels[at] < indent) ++at, ++steps;
    levels[at] = indent, depth = at + 1;
  }
  kept = steps;
  free(levels);
}

// CSV: names of columns in the first line. A cell of a row is found by the name of its column, from the first on.
PROGRAM(csv_columns) {
  struct part *columns = parts_for(size), text = {data, size}, header = take_until(&text, "\n");
  size_t count = 0;
  uint64_t sum = 0;
  while (columns && header.size > 0) columns[count++] = take_until(&header, ",");
  while (columns && text.size > 0) {
    struct part row = take_until(&text, "\n");
    for (size_t i = 0; row.size > 0 && i < count; ++i) {
      take_until(&row, ",");
      sum += find_part(columns, count, columns[i]);
    }
  }
  kept = sum;
  free(columns);
}

// Quotes: two of them stand for one, and the rest of the cell is moved.
PROGRAM(csv_quotes) {
  uint8_t *cell = malloc(size + 1);
  size_t length = size;
  for (size_t i = 0; cell && i < size; ++i) cell[i] = data[i];
  for (size_t at = 0; cell && at + 1 < length; ++at) {
    if (cell[at] != '"' || cell[at + 1] != '"') continue;
    for (size_t i = at + 1; i + 1 < length; ++i) {
      cell[i] = cell[i + 1];
      __asm__ volatile("" ::: "memory"); // or it becomes a call of memmove
    }
    --length;
  }
  kept = length;
  free(cell);
}

// HTTP: a request line, headers, an empty line. A header with a known name is joined to the one before it, by a copy of both.
PARSER(http_headers) {
  struct part text = {data, size}, request = take_until(&text, "\n");
  if (request.size < 8 || !same_bytes(request.data, (const uint8_t *)"GET ", 4)) return -1;
  struct part *names = parts_for(size);
  size_t *lengths = calloc(size + 1, sizeof *lengths), count = 0;
  uint64_t state = 1;
  while (names && lengths && text.size > 0) {
    struct part line = take_until(&text, "\n"), name = take_until(&line, ":");
    if (name.size == 0) break;
    size_t at = find_part(names, count, name);
    if (at == count) names[count++] = name;
    for (size_t i = 0; i < lengths[at]; ++i) state = stir(state + i);
    lengths[at] += line.size + 2;
  }
  kept = state;
  free(names);
  free(lengths);
  return 0;
}

// Chunks of a body: "hex length", newline, body, newline. Each is looked at once.
PARSER(http_chunks) {
  struct part text = {data, size};
  uint64_t state = 1;
  while (text.size > 0) {
    struct part line = take_until(&text, "\n");
    size_t length = 0;
    for (size_t i = 0; i < line.size && i < 6; ++i) {
      uint8_t digit = line.data[i];
      length = length * 16 + (digit <= '9' ? digit - '0' : (digit & 15) + 9u);
    }
    if (length == 0) break;
    if (length >= text.size || text.data[length] != '\n') return -1;
    for (size_t i = 0; i < length; ++i) state = stir(state + text.data[i]);
    text.data += length + 1, text.size -= length + 1;
  }
  kept = state;
  return 0;
}

// Base64: what is no letter of it is taken out by moving the rest, if `moves`.
static void base64(const uint8_t *data, size_t size, int moves) {
  uint8_t *text = malloc(size + 1);
  size_t length = size;
  uint64_t state = 0;
  for (size_t i = 0; text && i < size; ++i) text[i] = data[i];
  for (size_t at = 0; text && at < length;) {
    uint8_t byte = text[at];
    if (!is_blank(byte) || !moves) {
      state = stir(state << 6 | byte), ++at;
      continue;
    }
    for (size_t i = at; i + 1 < length; ++i) {
      text[i] = text[i + 1];
      __asm__ volatile("" ::: "memory");
    }
    --length;
  }
  kept = state;
  free(text);
}

PROGRAM(base64_lines) { base64(data, size, 1); }

PROGRAM(base64_plain) { base64(data, size, 0); }

// Paths: "/../" takes away what is before it, by a new walk from the start.
PROGRAM(path_segments) {
  struct part *segments = parts_for(size), text = {data, size};
  size_t count = 0;
  uint64_t length = 0;
  while (segments && text.size > 0) {
    struct part segment = take_until(&text, "/");
    if (segment.size == 2 && same_bytes(segment.data, (const uint8_t *)"..", 2)) {
      count -= count > 0;
    } else {
      segments[count++] = segment;
    }
    for (size_t i = 0; i < count; ++i) length = stir(length + segments[i].size);
  }
  kept = length;
  free(segments);
}

// The n-th letter of UTF-8, each time from the first byte on.
PROGRAM(letters_by_number) {
  uint64_t state = 1;
  for (size_t number = 0, found = 1; found; ++number) {
    size_t seen = 0;
    found = 0;
    for (size_t at = 0; at < size && !found; ++at) {
      if ((data[at] & 0xc0) == 0x80) continue;
      if (seen++ == number) state = stir(state + data[at]), found = 1;
    }
  }
  kept = state;
}

// Terms "1+2*(3-4)": the operator that binds least is looked for in each part, from its front.
static uint64_t term(const uint8_t *data, size_t size) {
  size_t depth = 0, place = size;
  for (size_t i = 0; i < size; ++i) {
    depth += data[i] == '(';
    depth -= data[i] == ')' && depth > 0;
    if (depth == 0 && (data[i] == '+' || data[i] == '-')) place = i;
  }
  if (place < size) return term(data, place) + term(data + place + 1, size - place - 1);
  if (size > 2 && data[0] == '(') return term(data + 1, size - 2);
  return size > 0 ? data[0] : 0;
}

PROGRAM(terms) { kept = term(data, size < 60000 ? size : 60000); }
