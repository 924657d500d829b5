//! AFL++'s macros with which programs mark the start of their fork server and the loop of runs. They call the runtime
//! (`serve.c`), and leave the markers that AFL++'s tools and the runtime search for in the program.

/// Names and definitions. Functions are declared where they are used, with a linkage name, so that C++ code calls the
/// same ones, also from within a namespace.
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
    // weak, because several files may contain it
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
