# shellcheck shell=bash
# What the scripts that build a library share; sourced by them.

# begin_library SOURCE OUT: sets $out, and goes into a fresh copy of the Debian source in $build. Ends the script if OUT was
# built in the same way.
begin_library() {
  out=$(mkdir -p "$2" && cd "$2" && pwd)
  local source
  source=$("$(dirname "$0")/fetch-source" "$1")
  key="${CC:-cc} ${CFLAGS:-} ${QUAGMIRE_LLVM_CONFIG:-} ${QUAGMIRE_COMPARES:-} $(cksum <"$(command -v "${CC:-cc}")")"
  [ "$(cat "$out/built-with" 2>/dev/null)" = "$key" ] && exit 0
  : >"$out/log"
  build=$out/build
  rm -rf "$build"
  cp -a "$source" "$build"
  cd "$build" || exit
}

# logged COMMAND...: the end of what it prints, if it fails; then the script ends.
logged() {
  "$@" >>"$out/log" 2>&1 || { tail -n 20 "$out/log" >&2; exit 1; }
}

# end_library: notes how OUT was built, and removes the copy of the source.
end_library() {
  cd /
  rm -rf "$build"
  echo "$key" >"$out/built-with"
}
