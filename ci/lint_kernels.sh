#!/bin/sh
# Compiles every kernel variant without a device and compares the constructs that its preprocessed
# text holds with those that the catalog declares.
#   ci/lint_kernels.sh BUILD_DIR        (needs clvet_kernel_dump built there, and clang)
set -eu

if [ "${1:-}" = --one ]; then
  file=$2
  options=$(sed -n '1s,^// options: ,,p' "$file")
  declared=$(sed -n '2s,^// constructs: *,,p' "$file" | tr ' ' '\n' | sort -u)
  plain=$(echo "$options" | sed 's,-cl-std=[^ ]*,,')
  # shellcheck disable=SC2086
  ${CLANG:-clang} -x cl -cl-std=CL1.2 -cl-no-stdinc $plain -Xclang -finclude-default-header \
    -Xclang -fdeclare-opencl-builtins -Wall -Wextra -Werror -Wno-unused-parameter -fsyntax-only \
    "$file" || { echo "$(basename "$file") does not compile"; exit 1; }
  # shellcheck disable=SC2086
  text=$(${CLANG:-clang} -x cl -cl-std=CL1.2 -cl-no-stdinc $plain -E -P "$file")
  has() { printf '%s\n' "$text" | grep -Pq -- "$1" && echo "$2" || true; }
  image=image_half
  case $(basename "$file") in *.high.*) image=image_float ;; esac
  vectors=$(printf '%s\n' "$text" |
    grep -Po '\b(float|half|int|uint|ushort|real|act_float|texel_pos)(2|3|4|8|16)? \K\w+(?= *[=;,)])' | sort -u)
  found=$(
    has '\bhalf(2|3|4|8|16)\b|\bhalf\b(?! *\*)' half_type
    has '\btypedef half real;' half_arith
    has '\bv(load|store)a?_half' vload_half
    has '\bread_imageh\b' read_imageh
    has '\bwrite_imageh\b' write_imageh
    has '\bsampler_t\b' sampler
    has '\b(read|write)_image[fh]\b' "$image"
    has '\bread_imageui\b' image_uint16_weights
    has '\bread_imagei\b' image_int32_weights
    has 'convert_half\d*\(\(?(word|even|odd)\b' int_to_half
    has '\((__private )?\w+(2|3|4|8|16) *\*\)' private_vector_cast
    has '\b(__local|local)\b' local_memory
    has '\b(barrier|work_group_barrier)\(' barrier
    has '\b(intel_)?sub_group_' subgroup
    has '\b(arm_)?dot(_acc)?(_4x8)?\w*\(' dot8
    for name in $vectors; do has "\\b$name\\[" vector_subscript; done
    case $options in *relaxed-math*) echo relaxed_math ;; esac
  )
  found=$(printf '%s\n' "$found" | sort -u)
  if [ "$declared" != "$found" ]; then
    echo "$(basename "$file"): declared" $declared "but found" $found
    exit 1
  fi
  if printf '%s\n' "$text" | grep -Pq '\bfma\(|\b(double|long)\d*\b'; then
    echo "$(basename "$file"): fma(), double and long are not for kernels of OpenCL C 1.2 devices"
    exit 1
  fi
  exit 0
fi

build=${1:?usage: ci/lint_kernels.sh BUILD_DIR}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
dump=$(find "$build" -name clvet_kernel_dump -type f -perm -u+x | head -n 1)
CLVET_TEST_KERNELS=$(dirname "$0")/../kernels "${dump:?clvet_kernel_dump is not built below $build}" "$dir"
find "$dir" -name '*.cl' -print0 | xargs -0 -n 1 -P "$(nproc)" sh "$0" --one
echo "kernels: $(find "$dir" -name '*.cl' | wc -l) programs compile and declare what they use"
