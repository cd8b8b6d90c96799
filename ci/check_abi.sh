#!/bin/bash
# ci/check_abi.sh [--update] [BUILD]: programs that were linked with the library of before run with that of BUILD (build):
# - its SONAME is libclvet.so.MAJOR.MINOR of the project's version;
# - it still shows each name of ci/abi/symbols.txt (new names are welcome);
# - the public types, and the parameters and results of the C functions, are those of ci/abi/types.abi (abidiff; without Debian's
#   package abigail-tools this part is left out, and said so).
# --update writes both files anew: for a new SONAME, for what was added, and before the first release.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
update=
if [ "${1:-}" = --update ]; then update=1 && shift; fi
build=${1:-$CLVET_ROOT/build}
library=$build/runtime/libclvet.so
headers=$CLVET_ROOT/runtime/include/clvet
known=${CLVET_ABI:-$CLVET_ROOT/ci/abi} # another folder: tests
[ -e "$library" ] || die "$library is not there: build it first (cmake --build $build --target clvet_library)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
fault() { say "ABI: $*" && faults=1; }

# Strong names alone: which inline functions a compiler leaves in the library is its own affair, and what is within (the classes Impl,
# State) is the library's.
shown() {
  nm -D --defined-only "$1" | awk '$2 ~ /[TDBRV]/ { sub(/@.*/, "", $3); print $3 }' | grep -vE '[0-9](Impl|State)[0-9CDE]' | LC_ALL=C sort -u
}

# A source that uses each public type, and a pointer to each C function, so that their layout is in its debug information.
types_source() {
  local name
  echo '#include <clvet/clvet.h>'
  echo '#include <clvet/clvet_c.h>'
  for file in "$headers"/*.h; do echo "#include <clvet/${file##*/}>"; done
  for name in $(sed -nE 's/^(class|struct|enum class) (CLVET_API )?([A-Z][A-Za-z]*) .*/\3/p' "$headers"/*.h | LC_ALL=C sort -u); do
    echo "void abi_of(clvet::$name&) {}"
  done
  echo 'void abi_of(clvet::Result<int>&) {}'
  echo 'void abi_of(clvet::Status&) {}'
  for name in $(sed -nE 's/^\} (clvet_[a-z_]+);/\1/p' "$headers"/clvet_c.h | LC_ALL=C sort); do echo "void abi_of($name&) {}"; done
  for name in $(grep -oE '\bclvet_[a-z0-9_]+\(' "$headers"/clvet_c.h | tr -d '(' | LC_ALL=C sort -u); do
    grep -qE "^CLVET_C_API .*\b$name\(" "$headers"/clvet_c.h && echo "decltype(&$name) abi_of_$name = nullptr;"
  done
}
# Structures that say their own size may grow at the end.
growing() {
  awk '/^typedef struct/ { name = $3 } /struct_size;/ { print "[suppress_type]\ntype_kind = struct\nname = " name "\nhas_data_member_inserted_at = end" }' \
    "$headers"/clvet_c.h
}
types() {
  types_source >"$work/types.cpp"
  (cd "$work" && g++ -std=c++20 -g -fPIC -shared -Wl,-soname,types -I"$CLVET_ROOT/runtime/include" types.cpp -o types.so)
  # What the C++ library has within its types is not clvet's.
  printf '%s\n' '[suppress_type]' 'name_regexp = ^(std::|__gnu_cxx|__|_)' 'drop = yes' >"$work/off.ini"
  abidw --suppressions "$work/off.ini" --exported-interfaces-only --no-corpus-path --no-show-locs --no-comp-dir-path --no-architecture "$work/types.so"
}

soname=$(readelf -dW "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
version=$(project_version)
[ "$soname" = "libclvet.so.${version%.*}" ] ||
  fault "the library is called $soname; version $version asks for libclvet.so.${version%.*}: programs look for this name"

shown "$library" >"$work/symbols.txt"
if command -v abidw >/dev/null; then types >"$work/types.abi"; fi
if [ -n "$update" ]; then
  [ -e "$work/types.abi" ] || die "abidw not found: apt-get install abigail-tools"
  mkdir -p "$known"
  cp "$work/symbols.txt" "$work/types.abi" "$known/"
  say "ABI: $known holds $(wc -l <"$work/symbols.txt") names, as $soname shows them"
  exit "$faults"
fi

gone=$(LC_ALL=C comm -23 <(LC_ALL=C sort "$known/symbols.txt") "$work/symbols.txt")
[ -z "$gone" ] || fault "$soname no longer shows these names; keep them, or raise MAJOR.MINOR in CMakeLists.txt and run
'bash ci/check_abi.sh --update':
$(head -n 20 <<<"$gone" | c++filt)"
if [ -e "$work/types.abi" ]; then
  growing >"$work/growing.ini"
  abidiff --suppressions "$work/growing.ini" --no-added-syms "$known/types.abi" "$work/types.abi" >"$work/report" ||
    fault "public types differ from those of $soname before; undo that, or raise MAJOR.MINOR in CMakeLists.txt and run
'bash ci/check_abi.sh --update':
$(head -n 60 "$work/report")"
else
  say "ABI: public types are not compared: abidiff not found (apt-get install abigail-tools)"
fi
[ "$faults" = 0 ] || exit 1
echo "ABI: $soname shows its $(wc -l <"$known/symbols.txt") names, and types are as before"
