#!/bin/bash
# ci/nightly.sh [STAGE...]: what takes too long for every change; all stages, or those named:
#   sanitizers   every test that is not nightly, under the address and undefined-behaviour sanitizers
#   threads      the public library under the thread sanitizer, on the host and on PoCL
#   tests        the tests labelled nightly on the release build (supervisor killed at random moments, whole networks, ...)
#   gcc          built and tested with the compiler of a machine without clang-19
#   tidy         .clang-tidy over every file (ci/tidy.sh --all)
#   includes     is an #include that goes missing noticed? (ci/mutate_includes.py)
#   plans        plans of every model made without a driver and executed with one (tests/bench/plans.py)
#   drivers      drivers that need a root of their own or long (ci/drivers.sh; root)
#   mali         what kernels cost on Mali's compilers (ci/mali_cost.sh; root)
#   mutants      do the trials notice wrong kernels, and the planner's tests a wrong planner?
#   oclgrind     races, foreign memory, uninitialised values
#   conformance  ONNX's tests
#   fuzz         inputs made by libFuzzer for each reader of files, ten minutes each (ci/fuzz.sh)
#   release      the one file for boards, x86-64 and arm64, and what it does in bare roots (ci/release_show.sh)
#   packages     Debian packages and wheels for amd64 and arm64, installed in bare roots (ci/packages_show.sh, ci/wheel_show.sh)
#   personalities  do Debian's programs look for OpenCL as the table of frameworks says? (ci/personalities.sh; root)
#   loaders      what loaders do with variables, and what discover says of it (ci/agreement.py loaders)
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$CLVET_ROOT" || exit 1
exec </dev/null

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

# build PRESET
build() { cmake --preset "$1" "${launcher[@]}" && cmake --build --preset "$1"; }

stage_sanitizers() {
  build asan || return
  export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:detect_odr_violation=0:protect_shadow_gap=0}
  export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$CLVET_ROOT/ci/lsan.supp:print_suppressions=0}
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
  ctest --test-dir build-asan --output-on-failure --no-tests=error -j2 -LE nightly || return
  # The public library on a device. PoCL keeps memory in libraries that it unloads: whose it is, only whole stacks tell.
  build release && CLVET_STATE_DIR=build/state-system build/cli/clvet probe --if-changed --quiet
  ASAN_OPTIONS=fast_unwind_on_malloc=0:$ASAN_OPTIONS CLVET_TEST_REPORT=$PWD/build/state-system/report.json \
    build-asan/tests/runtime_test '--gtest_filter=*Public*:C*Session*:CAnswers*:CMisuse*:CLanguage*:CMachine*'
}
# The sanitizer wants memory where the kernel would not put it by itself (setarch -R). What happens within a driver is the driver's.
stage_threads() {
  build release || return
  CLVET_STATE_DIR=build/state-system build/cli/clvet probe --if-changed --quiet
  cmake --preset tsan "${launcher[@]}" && setarch -R cmake --build --preset tsan --target runtime_test || return
  export TSAN_OPTIONS=${TSAN_OPTIONS:-history_size=5 ignore_noninstrumented_modules=1}
  local tests='--gtest_filter=*Public*:C*Session*:CAnswers*:CMisuse*:CLanguage*:CMachine*:Parallel*' place
  for place in '' "$PWD/build/state-system/report.json"; do
    CLVET_TEST_REPORT=$place setarch -R build-tsan/tests/runtime_test "$tests" || return
  done
}
stage_tests() { bash ci/models_nightly.sh && build release && ctest --test-dir build --output-on-failure -L nightly; }
# The compiler that a user without clang-19 has.
stage_gcc() {
  CC=gcc CXX=g++ cmake --preset release -B build-gcc "${launcher[@]}" && cmake --build build-gcc || return
  ctest --test-dir build-gcc --output-on-failure -j2 -LE nightly
}
stage_tidy() { bash ci/tidy.sh --all; }
stage_includes() { cmake --preset release && python ci/mutate_includes.py; }
stage_plans() {
  bash ci/models_nightly.sh && build release || return
  "$CLVET_TEST_PYTHON" tests/bench/plans.py build/cli/clvet "$CLVET_MODELS" --tier full
}
stage_drivers() {
  build release && bash ci/drivers.sh mali && bash ci/drivers.sh matrix --nightly build/cli/clvet
}
stage_mali() {
  build release && bash ci/drivers.sh mali && bash ci/mali_cost.sh build --gpu 0x7212 --gpu 0xa867 --check
}
stage_mutants() {
  build release || return
  python ci/mutate_kernels.py --program build/tests/clvet_kernel_folder --per-kernel 5
  local kernels=$?
  python ci/mutate_planner.py && return "$kernels"
}
stage_oclgrind() { build release && bash ci/oclgrind.sh build; }
stage_conformance() { build release && bash ci/conformance.sh; }
stage_fuzz() { bash ci/fuzz.sh; }
stage_release() { bash ci/setup.sh --release && bash ci/release.sh && bash ci/release_show.sh; }
stage_packages() { bash ci/setup.sh --release && bash ci/packages.sh && bash ci/packages_show.sh &&
  bash ci/wheel.sh && bash ci/wheel_show.sh; }
stage_personalities() { bash ci/personalities.sh; }
stage_loaders() { build release && python ci/agreement.py loaders build/cli/clvet; }

stages=(sanitizers threads tests gcc tidy includes plans drivers mali mutants oclgrind conformance fuzz personalities loaders release packages)
wanted=("$@")
[ $# -gt 0 ] || wanted=("${stages[@]}")
for name in "${wanted[@]}"; do
  declare -F "stage_$name" >/dev/null || die "no stage '$name'; there are: ${stages[*]}"
done

bash ci/setup.sh --nightly || exit 1
failed=()
for name in "${wanted[@]}"; do
  say "nightly: $name"
  ("stage_$name") || failed+=("$name")
done
if [ ${#failed[@]} -gt 0 ]; then
  say "FAILED: ${failed[*]}"
  exit 1
fi
say "nightly passed: ${wanted[*]}"
