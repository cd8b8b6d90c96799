#!/bin/bash
# ci/drivers.sh intel: OpenCL drivers that no Debian package holds, for the tests only, never shipped.
#   intel  Intel's CPU runtime (OpenCL 3.1, real fp16; Intel EULA; x86-64), then OCL_ICD_VENDORS=$CLVET_TEST_INTEL/icd
# Running it again changes nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

make_intel() {
  local dir=$CLVET_TEST_INTEL requirements=$CLVET_ROOT/ci/requirements-intel.txt
  local library=$dir/lib/libintelocl.so
  if [ "$(uname -m)" != x86_64 ]; then
    say "Intel's runtime exists for x86-64 only: left out"
    return 0
  fi
  if cmp -s "$requirements" "$dir/.ready" && [ -e "$library" ] &&
    [ "$(cat "$dir/icd/intel.icd" 2>/dev/null)" = "$library" ]; then
    return 0
  fi
  say "installing Intel's OpenCL runtime for the tests"
  rm -rf "$dir"
  mkdir -p "$dir"
  python -m venv "$dir"
  "$dir/bin/pip" install -q --retries 5 --no-deps --no-compile --only-binary :all: --require-hashes \
    -r "$requirements" >&2
  [ -e "$library" ] || die "$library: not in the package"
  mkdir -p "$dir/icd"
  echo "$library" >"$dir/icd/intel.icd"
  cp "$requirements" "$dir/.ready"
}

case ${1:-} in
  intel) make_intel ;;
  *) sed -n '2,3s/^# //p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
