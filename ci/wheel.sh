#!/bin/bash
# ci/wheel.sh [x86-64|arm64]...: wheels of the Python package, build/release/clvet-VERSION-py3-none-manylinux_2_31_MACHINE.whl
# (both, if none is named), of what ci/release.sh installed in build/release/x86-64 and build/release/arm64. Packing again gives
# the same bytes. Nothing is fetched.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$CLVET_ROOT"

[ $# -gt 0 ] || set -- x86-64 arm64
for machine in "$@"; do
  case $machine in
    x86-64) tag=manylinux_2_31_x86_64 ;;
    arm64) tag=manylinux_2_31_aarch64 ;;
    *) sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
  [ -e "build/release/$machine/bin/clvet" ] || die "build/release/$machine is not there: run 'bash ci/release.sh $machine'"
  bash ci/check_release.sh "build/release/$machine/bin/clvet" "build/release/$machine/lib/libclvet.so" >&2
  python ci/pack_wheel.py "build/release/$machine" "$tag" build/release
done
