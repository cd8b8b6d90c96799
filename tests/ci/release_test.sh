#!/bin/bash
# tests/ci/release_test.sh: ci/check_release.sh passes a program fit for boards and names each fault of one that is not.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# build SOURCE [OPTION]...: a program that asks for nothing newer than glibc 2.17, unless SOURCE does
build() {
  printf '%s\n' '#include <unistd.h>' "$1" >"$work/p.c"
  cc "${strip--s}" -nostartfiles -Wl,-e,start "$work/p.c" -o "$work/p" "${@:2}" 2>"$work/log" ||
    { cat "$work/log"; failures=$((failures + 1)); }
}

# expect pass|fail PATTERN
expect() {
  local output status=pass
  output=$(bash "$root/ci/check_release.sh" "$work/p" 2>&1) || status=fail
  if [ "$status" != "$1" ] || ! grep -qE "$2" <<<"$output"; then
    echo "FAILED line ${BASH_LINENO[0]}: gave $status, wanted $1 with '$2':"
    echo "$output"
    failures=$((failures + 1))
  fi
}

small='void start(void) { _exit(0); }'
build "$small"
expect pass 'bytes, needs GLIBC_2\.[0-9.]*: .*libc\.so\.6'
truncate -s 10M "$work/p"
expect fail '10485760 bytes, 10 MiB or more'
strip=-g build "$small"
expect fail 'not stripped'
build "$small" -rdynamic
expect fail 'shows its symbols: .*start'
echo 'int other(void) { return 1; }' >"$work/o.c"
cc -shared -fPIC -Wl,-soname,libstdc++.so.6 "$work/o.c" -o "$work/libother.so"
build 'int other(void); void start(void) { _exit(other()); }' "$work/libother.so"
expect fail 'needs libstdc\+\+\.so\.6'
build 'int connect(int, void*, int); void start(void) { _exit(connect(0, 0, 0)); }'
expect fail 'calls connect'
build 'unsigned arc4random(void); void start(void) { _exit(arc4random()); }'
expect fail 'needs GLIBC_2.36, newer than GLIBC_2.31'
build "$small" -static
expect fail 'not linked with glibc'
build 'void start(void) { _exit(0); } void clvet_run(void) {}' -shared -Wl,-soname,libp.so.1
expect fail 'shows its symbols: start'
build 'void clvet_run(void) { _exit(0); }' -shared -Wl,-soname,libp.so.1
expect pass 'bytes, needs GLIBC_2'
echo text >"$work/p"
expect fail 'no ELF file'

if [ $failures -gt 0 ]; then
  echo "$failures failure(s)"
  exit 1
fi
echo "the release check behaves"
