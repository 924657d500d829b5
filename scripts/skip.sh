# For scripts: the rule of the tests for what may be left out (fuzzer/tests/e2e/common/missing.rs).

# Leaves out a check, NAME, which is missing here (REMEDY says what to do): an error unless QUAGMIRE_TESTS_MAY_SKIP names it,
# with commas between several names, or is 1. What was left out is appended to the file QUAGMIRE_TESTS_SKIPPED.
skip() {
  local name=$1 remedy=$2
  case ,${QUAGMIRE_TESTS_MAY_SKIP:-}, in
  ,1, | *,"$name",*) echo "$name: $remedy" >>"${QUAGMIRE_TESTS_SKIPPED:-/dev/stderr}" ;;
  *)
    echo "$(basename "$0"): cannot check $name: $remedy, or set QUAGMIRE_TESTS_MAY_SKIP=$name to leave it out" >&2
    exit 1
    ;;
  esac
}
