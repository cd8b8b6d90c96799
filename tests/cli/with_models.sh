#!/bin/bash
# with_models.sh SCRIPT.py CLVET STATE_DIR: runs a Python test on the real models with a state folder of its own, on the
# driver that CLVET_TEST_DRIVER names (system, intel, rusticl), with CLVET_TEST_REPORT's report of it if given. Exit 77 (skipped, said aloud) where
# `bash ci/setup.sh --test` has not brought the models.
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/../../ci/env.sh"
model=$CLVET_MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
if [ ! -x "$CLVET_TEST_PYTHON" ] || [ ! -e "$model" ]; then
  echo "skipped: run 'bash ci/setup.sh --test' first"
  exit 77
fi
case ${CLVET_TEST_DRIVER:-system} in
  intel) export OCL_ICD_VENDORS=$CLVET_TEST_INTEL/icd ;;
  rusticl) export RUSTICL_ENABLE=llvmpipe OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd ;;
esac
case $1 in models_accuracy.py | runtime_faults.py | interrupts.py | sound.py | diagnose_networks.py | generate_*) model=$CLVET_MODELS ;; esac
export CLVET_STATE_DIR=$3
rm -rf "$3"
mkdir -p "$3"
if [ -n "${CLVET_TEST_REPORT:-}" ]; then cp "$CLVET_TEST_REPORT" "$3/report.json"; fi
exec "$CLVET_TEST_PYTHON" "$CLVET_ROOT/tests/cli/$1" "$2" "$model" "$CLVET_ROOT/tests/data/images"
