#!/bin/bash
# python_wheel.sh BUILD: what is built, packed as a wheel of this machine, installed into a fresh environment, and used there.
# Exit 77 (skipped, said aloud) where `bash ci/setup.sh --test` has not brought numpy.
set -euo pipefail
build=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$source/ci/env.sh"
model=$CLVET_MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
if [ ! -x "$CLVET_TEST_PYTHON" ] || [ ! -e "$model" ]; then
  echo "skipped: run 'bash ci/setup.sh --test' first"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset CLVET_LIBRARY CLVET_PROGRAM
version=$(project_version "$source")
library=libclvet.so.${version%.*}

# The component of the package has its two files, and a plain installation none of them.
cmake --install "$build" --prefix "$folder/component" --component python >/dev/null
(cd "$folder/component" && find . -type f | sort) | diff - <(printf './clvet/%s\n' bin/clvet "lib/$library")
cmake --install "$build" --prefix "$folder/usr" >/dev/null
[ ! -e "$folder/usr/clvet" ]

platform=linux_$(uname -m)
for time in first second; do
  python "$source/ci/pack_wheel.py" "$folder/usr" "$platform" "$folder/$time" >/dev/null
done
wheel=$(echo "$folder"/first/clvet-*-py3-none-"$platform".whl)
cmp "$wheel" "$folder/second/$(basename "$wheel")"

python -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --no-index --no-deps "$wheel"
"$CLVET_TEST_PYTHON" -c 'import numpy, pathlib; print(pathlib.Path(numpy.__file__).parent.parent)' >"$folder/numpy.pth"
cp "$folder/numpy.pth" "$(echo "$folder"/venv/lib/python*/site-packages)/numpy.pth"
"$folder/venv/bin/pip" check
"$folder/venv/bin/python" "$source/samples/python/classify.py" "$model" host x=1x3x48x192 | grep 'value . is the largest: 0\.[0-9]*'
"$folder/venv/bin/clvet" --version
"$folder/venv/bin/python" -m clvet --version
"$folder/venv/bin/python" -W error - "$library" <<'PY'
import importlib.metadata
import pathlib
import sys

import clvet

assert importlib.metadata.version("clvet") == clvet.__version__
package = pathlib.Path(clvet.__file__).parent
assert clvet._native.lib._name == str(package / "lib" / sys.argv[1]), clvet._native.lib._name
assert clvet._native.bundled_program() == str(package / "bin/clvet")
PY
