#!/bin/bash
# with_networks.sh CLVET STATE_DIR [OPTIONS...]: try_networks.py with a state folder of its own, with CLVET_TEST_REPORT's report
# if given. Exit 77 (skipped, said aloud) where `bash ci/setup.sh --test` has not brought the models.
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/../../ci/env.sh"
if [ ! -x "$CLVET_TEST_PYTHON" ] || [ ! -e "$CLVET_MODELS/yolox.onnx" ]; then
  echo "skipped: run 'bash ci/setup.sh --test' first"
  exit 77
fi
program=$1
export CLVET_STATE_DIR=$2
shift 2
rm -rf "$CLVET_STATE_DIR"
mkdir -p "$CLVET_STATE_DIR"
if [ -n "${CLVET_TEST_REPORT:-}" ]; then cp "$CLVET_TEST_REPORT" "$CLVET_STATE_DIR/report.json"; fi
exec "$CLVET_TEST_PYTHON" "$CLVET_ROOT/tests/networks/try_networks.py" "$program" --models "$CLVET_MODELS" "$@"
