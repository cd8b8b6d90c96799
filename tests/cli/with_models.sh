#!/bin/bash
# with_models.sh SCRIPT.py CLVET STATE_DIR: runs a Python test on the real models with a state folder of its own.
# Exit 77 (skipped, said aloud) where `bash ci/setup.sh --test` has not brought the models.
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/../../ci/env.sh"
model=$CLVET_MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
if [ ! -x "$CLVET_TEST_PYTHON" ] || [ ! -e "$model" ]; then
  echo "skipped: run 'bash ci/setup.sh --test' first"
  exit 77
fi
export CLVET_STATE_DIR=$3
rm -rf "$3"
exec "$CLVET_TEST_PYTHON" "$CLVET_ROOT/tests/cli/$1" "$2" "$model" "$CLVET_ROOT/tests/data/images"
