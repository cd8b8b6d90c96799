#!/bin/bash
# ci/release_show.sh [x86-64|arm64]...: the programs of ci/release.sh where they are to be used, in roots that hold no C++ library:
#   x86-64  Debian 11 without OpenCL, and with a loader alone: discover says so, and models are answered from the CPU
#   arm64   Debian 12 for arm64 with PoCL, run by qemu: PoCL is found, kernels are right, a model is answered from it
# Root, or a kernel that lets users have namespaces; arm64 also qemu-user-static and, to leave this machine's own settings
# alone, Linux 6.7. The roots lie below the set-up's cache.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
. "$CLVET_ROOT/ci/debian.sh"
roots=$CLVET_SETUP_CACHE/release
model=ch_ppocr_mobile_v2.0_cls_infer.onnx
failed=0

# in_root ROOT COMMAND...: as if it were this machine. Mounts, and qemu's part as the reader of arm64 programs, belong to
# namespaces of the command's own.
in_root() {
  unshare --user --map-root-user --mount --propagation private bash -euc '
    root=$1
    shift
    if [ -e "$root/lib/ld-linux-aarch64.so.1" ] && ! chroot "$root" true 2>/dev/null; then
      mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
      cat /usr/lib/binfmt.d/qemu-aarch64.conf >/proc/sys/fs/binfmt_misc/register
    fi
    for name in proc sys dev; do mount --rbind "/$name" "$root/$name"; done
    mount -t tmpfs none "$root/tmp"
    mkdir "$root/tmp/show"
    mount --bind "$root/../show" "$root/tmp/show"
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin HOME=/tmp CLVET_STATE_DIR=/tmp/show/state "$@"' _ "$@"
}

# expect NAME STATUS PATTERN COMMAND...: the command ends so, and one line of what it prints fits
expect() {
  local name=$1 wanted=$2 pattern=$3 status=0 output
  shift 3
  output=$("$@" 2>&1 </dev/null) || status=$?
  if [ "$status" != "$wanted" ] || ! grep -qE "$pattern" <<<"$output"; then
    printf '%s\n' "$output" | tail -n 30 >&2
    say "FAILED: $name (exit $status, wanted $wanted and '$pattern')"
    failed=1
  else
    say "ok: $name: $(grep -m 1 -E "$pattern" <<<"$output")"
  fi
}

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
