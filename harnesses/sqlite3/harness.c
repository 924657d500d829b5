// Runs the input as SQL statements on a small database in memory. See README.md.
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../common/accepted.h"

enum { STEP = 1000, STEPS = 200, LONGEST_VALUE = 100000, HEAP = 32 << 20 };

static const char SCHEMA[] =
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c TEXT);"
    "CREATE INDEX i ON t(b);"
    "INSERT INTO t VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 10, 'three'), (4, NULL, 'four'), (5, 50, NULL);"
    "CREATE TABLE u(a INTEGER, d REAL);"
    "INSERT INTO u VALUES (1, 0.5), (2, 1.5), (2, 2.5), (7, NULL);";

static int steps_left;

// Nonzero ends the statement: the database asks every STEP instructions of its machine.
static int is_over(void *context) {
  (void)context;
  if (steps_left > 0) --steps_left;
  return steps_left == 0;
}

// Denies other files, settings, time and random numbers.
static int authorize(void *context, int action, const char *one, const char *other, const char *database, const char *from) {
  (void)context, (void)one, (void)database, (void)from;
  static const char *const DENIED[] = {"random", "randomblob", "date", "time", "datetime", "julianday", "unixepoch", "strftime",
                                       "current_date", "current_time", "current_timestamp"};
  if (action == SQLITE_ATTACH || action == SQLITE_PRAGMA) return SQLITE_DENY;
  if (action != SQLITE_FUNCTION || !other) return SQLITE_OK;
  for (size_t i = 0; i < sizeof DENIED / sizeof *DENIED; ++i) {
    if (strcasecmp(other, DENIED[i]) == 0) return SQLITE_DENY;
  }
  return SQLITE_OK;
}

static void limit(sqlite3 *database) {
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
  sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 200);
  sqlite3_limit(database, SQLITE_LIMIT_VDBE_OP, 25000);
  sqlite3_limit(database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  sqlite3_set_authorizer(database, authorize, NULL);
  steps_left = STEPS;
  sqlite3_progress_handler(database, STEP, is_over, NULL);
}

// Compiles and runs the statements of `text`. 1 if all compile.
static int run(sqlite3 *database, const char *text) {
  while (*text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, text, -1, &statement, &text) != SQLITE_OK) return 0;
    if (!statement) continue; // a comment, or blanks
    while (sqlite3_step(statement) == SQLITE_ROW) {
      for (int i = 0; i < sqlite3_column_count(statement); ++i) sqlite3_column_text(statement, i);
    }
    sqlite3_finalize(statement);
  }
  return 1;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  sqlite3_initialize();
  sqlite3_hard_heap_limit64(HEAP);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  sqlite3 *database = NULL;
  // the same random numbers in every run: names of temporary tables, among others
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, NULL);
  if (text && sqlite3_open(":memory:", &database) == SQLITE_OK &&
      sqlite3_exec(database, SCHEMA, NULL, NULL, NULL) == SQLITE_OK) {
    memcpy(text, data, size);
    text[size] = '\0';
    limit(database);
    if (run(database, text)) accepted();
  }
  sqlite3_close(database);
  free(text);
  return 0;
}
