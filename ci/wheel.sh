#!/bin/bash
# ci/wheel.sh [x86-64|arm64]...: wheels of the Python package, build/release/clvet-VERSION-py3-none-manylinux_2_31_MACHINE.whl
# (both, if none is named), of what ci/release.sh installed in build/release/x86-64 and build/release/arm64. Packing again gives
# the same bytes. Nothing is fetched.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$CLVET_ROOT"

# fits FILE: it needs no newer glibc than the tag promises, and no library that such systems may lack
fits() {
  local newest others
  newest=$(readelf -VW "$1" | grep -o 'Name: GLIBC_[0-9.]*' | sed 's/.*GLIBC_//' | sort -uV | tail -n 1)
  [ "$(printf '%s\n' "$newest" 2.31 | sort -V | tail -n 1)" = 2.31 ] || die "$1 needs glibc $newest: a wheel promises 2.31"
  others=$(readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vxE 'lib(c|m)\.so\.6|lib(dl|pthread)\.so\.[02]|librt\.so\.1|ld-linux[-a-z0-9_]*\.so\.[12]' || true)
  [ -z "$others" ] || die "$1 needs $(paste -sd' ' <<<"$others")"
}

[ $# -gt 0 ] || set -- x86-64 arm64
for machine in "$@"; do
  case $machine in
    x86-64) tag=manylinux_2_31_x86_64 ;;
    arm64) tag=manylinux_2_31_aarch64 ;;
    *) sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
  [ -e "build/release/$machine/bin/clvet" ] || die "build/release/$machine is not there: run 'bash ci/release.sh $machine'"
  while read -r file; do fits "$file"; done < <(find "build/release/$machine" -name clvet -type f -o -name 'libclvet.so*' -type f)
  python ci/pack_wheel.py "build/release/$machine" "$tag" build/release
done
