#!/bin/bash
# ci/test.sh: set-up, clean checks, build and every test that is not nightly. The last lines are ctest's summary
# and the checks that failed; the exit status is not 0 if anything failed. Needs no terminal.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$CLVET_ROOT" || exit 1
exec </dev/null
export LC_ALL=C.UTF-8  # the tests read English

bash ci/setup.sh --test || exit 1

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake --preset release "${launcher[@]}" || exit 1
cmake --build --preset release || exit 1

failed=$(bash ci/checks.sh build)
checks=$?

ctest --test-dir build --output-on-failure --no-tests=error -j2 -LE nightly
tests=$?
if [ $checks -ne 0 ]; then
  say "FAILED checks: $failed (what each found stands above the tests)"
  exit 1
fi
exit $tests
