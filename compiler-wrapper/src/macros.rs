//! The macros of AFL++ with which programs say where their fork server starts and where runs begin and end. They call the
//! runtime (`serve.c`), and leave what AFL++'s tools, and the runtime, look for in the program.

/// Names and what they stand for. Functions are declared where they are used, with a name for the linker, so that C++ calls
/// the same ones, and from within a namespace too.
pub(crate) const AFL: [(&str, &str); 6] = [
    ("__AFL_HAVE_MANUAL_CONTROL", "1"),
    (
        "__AFL_INIT()",
        "do { \
         static const char quagmire_sign[] __attribute__((used, section(\"qgm_deferred\"))) = \"##SIG_AFL_DEFER_FORKSRV##\"; \
         void quagmire_init(const char *) __asm__(\"__quagmire_init\"); \
         quagmire_init(quagmire_sign); } while (0)",
    ),
    (
        "__AFL_LOOP(rounds)",
        "__extension__({ \
         static const char quagmire_sign[] __attribute__((used, section(\"qgm_persistent\"))) = \"##SIG_AFL_PERSISTENT##\"; \
         int quagmire_loop(const char *, unsigned) __asm__(\"__quagmire_loop\"); \
         quagmire_loop(quagmire_sign, (unsigned)(rounds)); })",
    ),
    // weak: it may stand in several files
    (
        "__AFL_FUZZ_INIT()",
        "extern int quagmire_takes_testcases __asm__(\"__quagmire_takes_testcases\"); \
         __attribute__((weak)) int quagmire_takes_testcases = 1",
    ),
    (
        "__AFL_FUZZ_TESTCASE_BUF",
        "__extension__({ \
         unsigned char *quagmire_testcase(void) __asm__(\"__quagmire_testcase\"); \
         quagmire_testcase(); })",
    ),
    (
        "__AFL_FUZZ_TESTCASE_LEN",
        "__extension__({ \
         int quagmire_testcase_size(void) __asm__(\"__quagmire_testcase_size\"); \
         quagmire_testcase_size(); })",
    ),
];
