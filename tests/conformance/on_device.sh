#!/bin/bash
# on_device.sh CLVET CLVET_CONFORMANCE FOLDER: some node tests on the first OpenCL device, planned on a report of their kernels
# alone. A softmax over the channels of three axes: its kernel counts rows otherwise than the tensor has images.
set -euo pipefail
clvet=$1 conformance=$2 folder=$3
here=$(dirname "${BASH_SOURCE[0]}")
mkdir -p "$folder"
export CLVET_STATE_DIR=$folder/state
# Exit 1: no combination is whole, for want of the other kernels.
found=0
"$clvet" probe --quiet --fresh --case 'softmax*' --case 'reduce*' --case 'eltwise*' --case 'move*' \
  --out "$folder/report.json" || found=$?
[ "$found" -le 1 ] || exit "$found"
exec bash "$here/with_cases.sh" "$conformance" --device 0 --report "$folder/report.json" --scratch "$folder/scratch" \
  --case test_softmax_axis_1 --opencl-at-least 3
