// Reads a small binary format: a magic, lengths that must agree, records in records. See README.md.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 8, RECORD = 6, VERSION = 1, DEEPEST = 16, LONGEST_NAME = 64 };

// What is left of the file, or of the list that is being read.
struct bytes {
  const uint8_t *at;
  size_t left;
};

struct file {
  struct bytes *names; // room for as many as the file can hold
  size_t name_count;
};

static unsigned u16(const uint8_t *at) { return at[0] | (unsigned)at[1] << 8; }

// A label, which links may then refer to.
static bool read_name(struct file *file, struct bytes text) {
  if (text.left == 0 || text.left > LONGEST_NAME) return false;
  for (size_t i = 0; i < text.left; ++i) {
    if (text.at[i] < ' ' || text.at[i] > '~') return false;
  }
  file->names[file->name_count++] = text;
  return true;
}

// Keys of two bytes, all different. Weakness: each is compared with all before it.
static bool read_keys(struct bytes keys) {
  if (keys.left % 2 != 0) return false;
  for (size_t i = 0; i < keys.left; i += 2) {
    for (size_t j = 0; j < i; j += 2) {
      if (u16(keys.at + i) == u16(keys.at + j)) return false;
    }
  }
  return true;
}

// A name that was there before. Weakness: looked for from the first on.
static bool read_link(const struct file *file, struct bytes text) {
  for (size_t i = 0; i < file->name_count; ++i) {
    struct bytes name = file->names[i];
    if (name.left == text.left && memcmp(name.at, text.at, text.left) == 0) return true;
  }
  return false;
}

// Records up to the end of the list, which they must fill exactly.
static bool read_records(struct file *file, struct bytes list, unsigned depth) {
  while (list.left > 0) {
    if (list.left < RECORD) return false;
    struct bytes value = {list.at + RECORD, u16(list.at + 4)};
    if (value.left > list.left - RECORD) return false;
    bool good = false;
    if (memcmp(list.at, "list", 4) == 0) {
      good = depth < DEEPEST && read_records(file, value, depth + 1);
    } else if (memcmp(list.at, "name", 4) == 0) {
      good = read_name(file, value);
    } else if (memcmp(list.at, "keys", 4) == 0) {
      good = read_keys(value);
    } else if (memcmp(list.at, "link", 4) == 0) {
      good = read_link(file, value);
    }
    if (!good) return false;
    list.at = value.at + value.left;
    list.left -= RECORD + value.left;
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < HEADER || memcmp(data, "\x89QBX", 4) != 0) return 0;
  if (u16(data + 4) != VERSION || u16(data + 6) != size) return 0;
  struct file file = {malloc(size / RECORD * sizeof *file.names), 0};
  if (!file.names) return 0;
  struct bytes records = {data + HEADER, size - HEADER};
  volatile bool good = read_records(&file, records, 0); // volatile: the work must not be optimised away
  (void)good;
  free(file.names);
  return 0;
}
