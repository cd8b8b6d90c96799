#!/bin/bash
# ci/conformance.sh [--device SEL]: ONNX's node tests (class A: f32, i32, i64, bool) on an OpenCL device and on the host, and before
# them all of ONNX's tests whose inputs and outputs are numbers. SEL is a device of this machine (default 0) or `host`. All results
# lie in out/conformance/; the last three lines count what passed. Of the default device a line says on how many cases `clvet check`
# agrees with `clvet run`. Exit 1 where an answer is wrong, the host passes fewer than it once did, or check and run differ. How cases
# count: tests/conformance/run_case.h and host_by_design.json.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$CLVET_ROOT"

device=0
while [ $# -gt 0 ]; do
  case $1 in
    --device) device=${2:?--device needs a device}; shift 2 ;;
    *) sed -n '2,6s/^# //p' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
done

bash ci/setup.sh --test
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake --preset release "${launcher[@]}" >/dev/null
cmake --build --preset release --target clvet clvet_conformance >&2

out=$CLVET_ROOT/out/conformance
mkdir -p "$out"
report=()
if [ "$device" != host ]; then
  export CLVET_STATE_DIR=$out/state
  found=0
  build/cli/clvet probe --quiet --out "$out/report.json" || found=$?
  [ "$found" -le 1 ] || die "probe failed (exit $found); --device host needs no OpenCL"
  report=(--report "$out/report.json")
fi
cases() { bash tests/conformance/with_cases.sh build/tests/conformance/clvet_conformance --device "$device" "${report[@]}" "$@"; }
status=0
cases --all --host-at-least 1498 --scratch "$out/scratch-all" --json "$out/results-all.json" || status=$?
if [ "$device" = 0 ]; then
  "$CLVET_TEST_PYTHON" tests/conformance/check_agrees.py build/cli/clvet "$out/results-all.json" "$out/report.json" || status=$?
fi
cases --host-at-least 1170 --scratch "$out/scratch" --json "$out/results.json" || status=$?
exit "$status"
