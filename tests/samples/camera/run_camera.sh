#!/bin/bash
# run_camera.sh CLVET_CAMERA: frames of two sizes, frames that are late, Ctrl-C and a network that takes no frames, on the host.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../ci/env.sh"
camera=$1
network=$CLVET_MODELS/ch_PP-OCRv4_det_infer.onnx

# expect EXIT PATTERN ARGUMENT...
expect() {
  local exit=0 output want=$1 pattern=$2
  shift 2
  output=$("$camera" "$@" --device host 2>&1) || exit=$?
  if [ "$exit" != "$want" ] || ! grep -qE "$pattern" <<<"$output"; then
    die "clvet_camera $*: exit $exit, wanted $want with '$pattern': $output"
  fi
  echo "$output"
}
expect 0 '^160x128: 5 frames computed, 0 dropped' "$network" --size 160x128 192x160 --frames 5 --deadline 60000
expect 0 '^192x160: 5 frames computed, 0 dropped' "$network" --size 160x128 192x160 --frames 5 --deadline 60000
expect 0 'largest value (0\.[89]|1\.0)' "$network" --pictures "$CLVET_ROOT/tests/data/images" --size 640x480 --frames 2 --deadline 60000
expect 0 '^640x480: 1 frames computed, 4 dropped' "$network" --size 640x480 --frames 5 --deadline 0
expect 2 'cannot be broadcast|not allow' "$network" --size 33x44
expect 2 'takes no frames' "$CLVET_MODELS/silero_vad_16k_sequence.onnx"

exit=0
timeout --preserve-status -s INT 3 "$camera" "$network" --device host --frames 100000 --deadline 60000 || exit=$?
[ $exit = 130 ] || die "interrupted: exit $exit, wanted 130"
