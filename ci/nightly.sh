#!/bin/bash
# ci/nightly.sh: what takes too long for every change: all tests under the address and undefined-behaviour
# sanitizers, and on the release build the tests labelled nightly (supervisor killed at random moments, ...), more drivers
# (ci/drivers.sh matrix --nightly; root), mutations of kernels and Oclgrind's checks.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$CLVET_ROOT" || exit 1
exec </dev/null

bash ci/setup.sh --test || exit 1

failed=()
bash ci/models_nightly.sh || failed+=(models)
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

# build PRESET
build() { cmake --preset "$1" "${launcher[@]}" && cmake --build --preset "$1"; }

say "release build, nightly tests"
build release || exit 1
ctest --test-dir build --output-on-failure -L nightly || failed+=(nightly)

say "drivers that need a root of their own or long"
bash ci/drivers.sh mali || failed+=(mali-build)
bash ci/drivers.sh matrix --nightly build/cli/clvet || failed+=(drivers)

say "do the trials notice wrong kernels?"
python ci/mutate_kernels.py --program build/tests/clvet_kernel_folder --per-kernel 5 || failed+=(mutants)

say "Oclgrind: races, foreign memory, uninitialised values"
bash ci/oclgrind.sh build || failed+=(oclgrind)

say "ONNX's node tests"
bash ci/conformance.sh || failed+=(conformance)

say "sanitizer build, all other tests"
build asan || exit 1
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:detect_odr_violation=0:protect_shadow_gap=0}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$CLVET_ROOT/ci/lsan.supp:print_suppressions=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
ctest --test-dir build-asan --output-on-failure --no-tests=error -j2 -LE nightly || failed+=(sanitizers)

if [ ${#failed[@]} -gt 0 ]; then
  say "FAILED: ${failed[*]}"
  exit 1
fi
say "nightly passed"
