#!/bin/bash
# Every check of the sources, about four minutes on two cores: what a change needs before it is committed, beside its tests.
#   ci/checks.sh BUILD_DIR        (needs BUILD_DIR built with its tests, and the tools of ci/setup.sh --test)
# Prints the names of the checks that failed, and then ends with 1; what each found goes to stderr.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
build=$(realpath -e -- "${1:?usage: ci/checks.sh BUILD_DIR}") || exit 2
cd "$CLVET_ROOT" || exit 2
exec 3>&1 >&2

failed=()
check() {
  local name=$1
  shift
  say "check: $name"
  "$@" || failed+=("$name")
}
check layers python3 ci/check_layers.py
check budgets cmake -P ci/check_budgets.cmake
check messages python3 ci/check_messages.py
check language python3 ci/check_language.py
check links bash ci/check_links.sh "$build/cli/clvet"
check abi bash ci/check_abi.sh "$build"
check style bash ci/check_style.sh
check kernels bash ci/lint_kernels.sh "$build"
check tidy bash ci/tidy.sh
if [ ${#failed[@]} -gt 0 ]; then
  echo "${failed[*]}" >&3
  exit 1
fi
