// Prepares, binds, steps and resets statements in a sequence that the input picks, on a database in memory, with SQLite.
// See README.md.
#include <fuzzer/FuzzedDataProvider.h>
#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/accepted.h"

namespace {

constexpr int MOST_CALLS = 100, MOST_ROWS = 50, STEP = 1000, STEPS = 300, HEAP = 32 << 20;
constexpr std::size_t MOST_STATEMENTS = 6;

const char *const STATEMENTS[] = {
    "INSERT INTO t(a, b, c) VALUES (?1, ?2, ?3)",
    "INSERT OR REPLACE INTO t VALUES (?, ?, ?)",
    "INSERT INTO u SELECT b, c FROM t WHERE a > ?",
    "UPDATE t SET b = ?, c = c || ? WHERE a = ?",
    "UPDATE OR IGNORE t SET a = a + ? WHERE b BETWEEN ? AND ?",
    "DELETE FROM t WHERE a = ?",
    "SELECT * FROM t WHERE b = ? ORDER BY c",
    "SELECT t.a, u.y FROM t LEFT JOIN u ON t.b = u.x WHERE u.y LIKE ?",
    "SELECT b, count(*), group_concat(c, ?) FROM t GROUP BY b HAVING count(*) >= ?",
    "SELECT a, sum(b) OVER (PARTITION BY c ORDER BY a ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t LIMIT ? OFFSET ?",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT i, i * ?2 FROM n",
    "SELECT CASE WHEN typeof(?1) = 'text' THEN upper(?1) ELSE abs(?1) END, ?1 < ?2, ?1 = ?2",
    "SELECT printf(?, ?, ?), substr(?, ?, ?)",
    "SELECT * FROM t WHERE c GLOB ? OR c LIKE ? ESCAPE '!'",
    "SELECT json_extract(?1, ?2), json_set(?1, ?2, ?3), json_type(?1)",
    "SELECT a FROM t INTERSECT SELECT x FROM u EXCEPT SELECT ?",
    "CREATE INDEX IF NOT EXISTS i ON t(c, b)",
    "SAVEPOINT s",
    "ROLLBACK TO s",
    "RELEASE s",
};

enum class Call { Prepare, Bind, BindAll, Step, StepAll, Reset, Clear, Finalize, PrepareText, kMaxValue = PrepareText };

int steps_left;

int is_over(void *) {
  if (steps_left > 0) --steps_left;
  return steps_left == 0;
}

class Sequence {
 public:
  Sequence(FuzzedDataProvider &draws, sqlite3 *database) : draws(draws), database(database) {}
  ~Sequence() {
    for (sqlite3_stmt *statement : statements) sqlite3_finalize(statement);
  }
  Sequence(const Sequence &) = delete;

  void run() {
    int calls = draws.ConsumeIntegralInRange(1, MOST_CALLS);
    for (int i = 0; i < calls && draws.remaining_bytes() > 0; ++i) make(draws.ConsumeEnum<Call>());
  }

 private:
  void make(Call call) {
    if (call == Call::Prepare || statements.empty()) return prepare(draws.PickValueInArray(STATEMENTS));
    if (call == Call::PrepareText) return prepare(draws.ConsumeRandomLengthString(200));
    std::size_t place = draws.ConsumeIntegralInRange<std::size_t>(0, statements.size() - 1);
    sqlite3_stmt *statement = statements[place];
    int parameters = sqlite3_bind_parameter_count(statement);
    switch (call) {
    case Call::Bind: bind(statement, draws.ConsumeIntegralInRange(1, parameters + 1)); break;
    case Call::BindAll:
      for (int i = 1; i <= parameters; ++i) bind(statement, i);
      break;
    case Call::Step: step(statement, 1); break;
    case Call::StepAll: step(statement, MOST_ROWS); break;
    case Call::Reset: sqlite3_reset(statement); break;
    case Call::Clear: sqlite3_clear_bindings(statement); break;
    default:
      sqlite3_finalize(statement);
      statements.erase(statements.begin() + static_cast<std::ptrdiff_t>(place));
    }
  }

  void prepare(const std::string &text) {
    if (statements.size() >= MOST_STATEMENTS) return;
    sqlite3_stmt *statement = nullptr;
    unsigned flags = draws.ConsumeBool() ? SQLITE_PREPARE_PERSISTENT : 0;
    if (sqlite3_prepare_v3(database, text.data(), static_cast<int>(text.size()), flags, &statement, nullptr) != SQLITE_OK) return;
    if (statement) statements.push_back(statement);
  }

  void bind(sqlite3_stmt *statement, int place) {
    switch (draws.ConsumeIntegralInRange(0, 6)) {
    case 0: sqlite3_bind_null(statement, place); break;
    case 1: sqlite3_bind_int(statement, place, draws.ConsumeIntegralInRange(-5, 20)); break;
    case 2: sqlite3_bind_int64(statement, place, draws.ConsumeIntegral<int64_t>()); break;
    case 3: sqlite3_bind_double(statement, place, draws.ConsumeFloatingPoint<double>()); break;
    case 4: {
      std::string text = draws.ConsumeRandomLengthString(64);
      sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
      break;
    }
    case 5: {
      std::vector<uint8_t> bytes = draws.ConsumeBytes<uint8_t>(draws.ConsumeIntegralInRange<std::size_t>(0, 64));
      sqlite3_bind_blob(statement, place, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
      break;
    }
    default: sqlite3_bind_zeroblob(statement, place, draws.ConsumeIntegralInRange(0, 1000));
    }
  }

  void step(sqlite3_stmt *statement, int rows) {
    int result = SQLITE_ROW;
    for (int i = 0; i < rows && result == SQLITE_ROW; ++i) {
      result = sqlite3_step(statement);
      for (int column = 0; column < sqlite3_data_count(statement); ++column) sqlite3_column_text(statement, column);
    }
    if (result == SQLITE_ROW || result == SQLITE_DONE) accepted();
  }

  FuzzedDataProvider &draws;
  sqlite3 *database;
  std::vector<sqlite3_stmt *> statements;
};

// Denies other files, settings, time and random numbers.
int authorize(void *, int action, const char *, const char *name, const char *, const char *) {
  if (action == SQLITE_ATTACH || action == SQLITE_PRAGMA) return SQLITE_DENY;
  if (action != SQLITE_FUNCTION || !name) return SQLITE_OK;
  for (const char *denied : {"random", "randomblob", "date", "time", "datetime", "julianday", "unixepoch", "strftime",
                             "current_date", "current_time", "current_timestamp"}) {
    if (sqlite3_stricmp(name, denied) == 0) return SQLITE_DENY;
  }
  return SQLITE_OK;
}

void set_up(FuzzedDataProvider &draws, sqlite3 *database) {
  sqlite3_exec(database, "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c TEXT)", nullptr, nullptr, nullptr);
  sqlite3_exec(database, draws.ConsumeBool() ? "CREATE TABLE u(x UNIQUE, y)" : "CREATE TABLE u(x, y)", nullptr, nullptr, nullptr);
  sqlite3_exec(database, "INSERT INTO t VALUES (1, 2, 'one'), (2, 3, 'two'), (3, 3, NULL)", nullptr, nullptr, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 100000);
  sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, draws.ConsumeIntegralInRange(1, 200));
  sqlite3_set_authorizer(database, authorize, nullptr);
  steps_left = STEPS;
  sqlite3_progress_handler(database, STEP, is_over, nullptr);
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  sqlite3_initialize();
  sqlite3_hard_heap_limit64(HEAP);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzedDataProvider draws(data, size);
  sqlite3 *database = nullptr;
  // the same random numbers in every run: names of temporary tables, among others
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, nullptr);
  if (sqlite3_open(":memory:", &database) == SQLITE_OK) {
    set_up(draws, database);
    Sequence(draws, database).run();
  }
  sqlite3_close(database);
  return 0;
}
