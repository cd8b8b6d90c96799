#!/bin/bash
# with_python.sh LIBRARY PROGRAM TEST.py: runs a test of the Python package on the library and the program of the build. Exit 77
# (skipped, said aloud) where `bash ci/setup.sh --test` has not brought numpy and onnxruntime.
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/../../ci/env.sh"
if [ ! -x "$CLVET_TEST_PYTHON" ] || [ ! -e "$CLVET_MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx" ]; then
  echo "skipped: run 'bash ci/setup.sh --test' first"
  exit 77
fi
export CLVET_LIBRARY=$1 CLVET_PROGRAM=$2 PYTHONPATH=$CLVET_ROOT/python PYTHONDONTWRITEBYTECODE=1
exec "$CLVET_TEST_PYTHON" -W error -X faulthandler "$CLVET_ROOT/tests/python/$3"
