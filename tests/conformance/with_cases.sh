#!/bin/bash
# with_cases.sh PROGRAM ARGUMENTS...: runs clvet_conformance on the node tests that `bash ci/setup.sh --test` installs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../ci/env.sh"
folder=$("$CLVET_TEST_PYTHON" -c 'import onnx.backend.test as t, os; print(os.path.join(os.path.dirname(t.__file__), "data", "node"))')
program=$1
shift
exec "$program" "$folder" "$@"
