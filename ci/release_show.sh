#!/bin/bash
# ci/release_show.sh [x86-64|arm64]...: the programs of ci/release.sh where they are to be used, in roots that hold no C++ library:
#   x86-64  Debian 11 without OpenCL, and with a loader alone: discover says so, and models are answered from the CPU
#   arm64   Debian 12 for arm64 with PoCL, run by qemu: PoCL is found, kernels are right, a model is answered from it
# Root, or a kernel that lets users have namespaces; arm64 also qemu-user-static and, to leave this machine's own settings
# alone, Linux 6.7. The roots lie below the set-up's cache.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
. "$CLVET_ROOT/ci/debian.sh"
. "$CLVET_ROOT/ci/show.sh"
roots=$CLVET_SETUP_CACHE/release
model=ch_ppocr_mobile_v2.0_cls_infer.onnx

# prepare NAME: a fresh folder, /tmp/show in the roots, with the program, a model and two images
prepare() {
  local show=$roots/show program=$CLVET_ROOT/build/release/clvet-$1
  [ -x "$program" ] || die "$program is not there: run 'bash ci/release.sh $1' first"
  [ -e "$CLVET_MODELS/$model" ] || die "no model: run 'bash ci/setup.sh --release' first"
  rm -rf "$show"
  mkdir -p "$show"
  cp "$program" "$show/clvet"
  cp "$CLVET_MODELS/$model" "$CLVET_ROOT"/tests/data/images/text-[12].png "$show/"
}

# answers ROOT NAME PATTERN OPTIONS...: which way up two lines of text are
answers() {
  local root=$1 name=$2 pattern=$3 image
  shift 3
  for image in 1 2; do
    expect "$name: text-$image" 0 "class $((image - 1)) +(0\.99|1\.00)" in_root "$root" /tmp/show/clvet run "/tmp/show/$model" \
      --input "x=/tmp/show/text-$image.png" --image-size 192x48 --mean 127.5 --scale 0.00784313725 --bgr --top 1 \
      --output-dir "/tmp/show/run-$image" "$@"
    grep -qE "$pattern" "$roots/show/run-$image/run.json" || { say "FAILED: $name: no '$pattern' in run.json"; failed=1; }
  done
}

show_x86-64() {
  local bare=$roots/debian11-bare loader=$roots/debian11-loader
  debian_root "$bare" amd64 bullseye bash coreutils libc-bin
  debian_root "$loader" amd64 bullseye bash coreutils libc-bin ocl-icd-libopencl1
  prepare x86-64
  in_root "$loader" ldconfig
  expect 'no OpenCL: discover' 3 'no_library' in_root "$bare" /tmp/show/clvet discover
  expect 'no OpenCL: its advice' 3 '1\. install the loader' in_root "$bare" /tmp/show/clvet discover
  expect 'no OpenCL: probe' 3 'OpenCL' in_root "$bare" /tmp/show/clvet probe --out /tmp/show/bare.json
  answers "$bare" 'no OpenCL: run' '"device": "host"' --device host
  answers "$bare" 'no OpenCL: run by itself' '"device": "host"'
  expect 'a loader alone: discover' 3 'loader_no_icd' in_root "$loader" /tmp/show/clvet discover
  answers "$loader" 'a loader alone: run' '"device": "host"' --device host
}

show_arm64() {
  local root=$roots/arm64-pocl known=$CLVET_ROOT/ci/release/pocl_arm64.json arguments
  debian_root "$root" arm64 bookworm bash coreutils libc-bin ocl-icd-libopencl1 pocl-opencl-icd
  prepare arm64
  in_root "$root" ldconfig
  expect 'PoCL: discover' 0 'Portable Computing Language|pocl' in_root "$root" /tmp/show/clvet discover
  mapfile -t arguments < <(python "$CLVET_ROOT/ci/check_expectations.py" --fields "$known" | tail -n +4)
  expect 'PoCL: probe' 0 'pass' in_root "$root" /tmp/show/clvet probe "${arguments[@]}" --out /tmp/show/report.json
  expect 'PoCL: every verdict' 0 '' python "$CLVET_ROOT/ci/check_expectations.py" "$roots/show/report.json" "$known"
  answers "$root" 'PoCL: run' '"device": "pthread"' --device 0 --report /tmp/show/report.json
  answers "$root" 'PoCL: run on the processor' '"device": "host"' --device host
}

[ $# -gt 0 ] || set -- x86-64 arm64
for machine in "$@"; do
  declare -F "show_$machine" >/dev/null || { sed -n '2,6s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
done
mkdir -p "$roots"
exec 9>"$roots/show.lock"
flock 9
for machine in "$@"; do "show_$machine"; done
exit $failed
