# shellcheck shell=bash
# What the scripts that build a library or a program share; sourced by them.

# without flags of the caller's, cmake, meson and some makefiles would not optimise; configure's own default for all
export CFLAGS=${CFLAGS--O2 -g}
export CXXFLAGS=${CXXFLAGS-$CFLAGS}

# needs TOOL...: ends the script if one is not installed.
needs() {
  local missing=()
  for tool in "$@"; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [ "${#missing[@]}" = 0 ] && return
  echo "$(basename "$0"): missing: ${missing[*]}; scripts/install-deps --targets installs it" >&2
  exit 1
}

# begin_build SOURCE OUT: sets $out, by default the folder of the script's name in target/targets, and goes into a fresh
# copy of the Debian source in $build. Ends the script if OUT was built in the same way.
begin_build() {
  local here source
  here=$(cd "$(dirname "$0")" && pwd)
  out=${2:-$here/../../target/targets/$(basename "$0")}
  out=$(mkdir -p "$out" && cd "$out" && pwd)
  # folders in it are replaced
  if [ -n "$(ls -A "$out")" ] && [ ! -e "$out/built-with" ] && [ ! -e "$out/log" ]; then
    echo "$(basename "$0"): $out is not empty and not of an earlier build: name a new folder" >&2
    exit 2
  fi
  key="$(built_by "${CC:-cc}") $(built_by "${CXX:-c++}") ${CFLAGS:-} ${CXXFLAGS:-} ${LDFLAGS:-} \
$(env | grep -E '^(LLVM_CONFIG|QUAGMIRE_(LLVM_CONFIG|COMPARES|COUNTING|DRAWS|LIBRARY_COSTS|MUTANTS|NOOPT|FUZZING_MODE))=' | sort | tr '\n' ' ') \
$(cat "$0" "$here/library.sh" | cksum)"
  [ "$(cat "$out/built-with" 2>/dev/null)" = "$key" ] && exit 0
  source=$("$here/fetch-source" "$1")
  : >"$out/log"
  build=$out/build
  rm -rf "$build"
  cp -a "$source" "$build"
  cd "$build" || exit
}

# built_by COMPILER: its name and what tells its versions apart.
built_by() {
  echo "$1 $(cksum <"$(type -P "${1%% *}" || echo /dev/null)")"
}

# logged COMMAND...: the end of what it prints, if it fails; then the script ends.
logged() {
  "$@" >>"$out/log" 2>&1 && return
  tail -n 20 "$out/log" >&2
  echo "$(basename "$0"): $1 failed; all of it: $out/log" >&2
  exit 1
}

# use_generated_files: the configure scripts and makefiles that came with the source are good, although a patch may be
# younger: nothing needs autoconf.
use_generated_files() {
  find . -name aclocal.m4 -exec touch {} +
  find . \( -name Makefile.in -o -name configure -o -name config.h.in -o -name config.in \) -exec touch {} +
}

# end_build: notes how OUT was built, and removes the copy of the source.
end_build() {
  cd /
  rm -rf "$build"
  echo "$key" >"$out/built-with"
}
