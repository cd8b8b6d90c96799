#!/bin/bash
# ci/check_links.sh PROGRAM: the program needs no shared library but the C and C++ run-time ones, and no OpenCL loader,
# so that the one file runs in any root.
set -uo pipefail
needed=$(objdump -p "$1" | awk '$1 == "NEEDED" {print $2}') || exit 1
[ -n "$needed" ] || { echo "$1: no dynamic section to read" >&2; exit 1; }
others=$(grep -vE '^(libc|libm|libstdc\+\+|libgcc_s|ld-linux[-a-z0-9_]*|libdl|libpthread|librt)\.so(\.[0-9]+)?$' <<<"$needed")
if [ -n "$others" ]; then
  echo "$1 is linked with" $others >&2
  exit 1
fi
echo "links:" $needed
