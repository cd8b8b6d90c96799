#!/bin/bash
# tests/ci/abi_test.sh BUILD: ci/check_abi.sh passes the library as it is and one that shows more than before; it names what is gone,
# and a type that is another one.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ -e "$1/runtime/libclvet.so" ] || exit 77
command -v abidw >/dev/null || exit 77
export CLVET_ABI
CLVET_ABI=$(mktemp -d)
trap 'rm -rf "$CLVET_ABI"' EXIT
failures=0

# expect pass|fail PATTERN [OPTION]
expect() {
  local output status=pass
  output=$(bash "$root/ci/check_abi.sh" "${@:3}" "$build" 2>&1) || status=fail
  if [ "$status" != "$1" ] || ! grep -qE "$2" <<<"$output"; then
    echo "FAILED line ${BASH_LINENO[0]}: gave $status, wanted $1 with '$2':"
    echo "$output"
    failures=$((failures + 1))
  fi
}
build=$1
expect pass 'holds [0-9]+ names' --update
expect pass 'types are as before'
sed -i '$d' "$CLVET_ABI/symbols.txt"
expect pass 'types are as before'
echo '_ZN5clvet2v17Session6vanishEv' >>"$CLVET_ABI/symbols.txt"
expect fail 'clvet::v1::Session::vanish\(\)'
sed -i '$d' "$CLVET_ABI/symbols.txt"
sed -i "0,/layout-offset-in-bits='64'/s//layout-offset-in-bits='72'/" "$CLVET_ABI/types.abi"
expect fail 'public types differ'

if [ $failures -gt 0 ]; then
  echo "$failures failure(s)"
  exit 1
fi
echo "the check of the ABI behaves"
