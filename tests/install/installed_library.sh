#!/bin/bash
# installed_library.sh BUILD: installs into a folder of its own, builds samples/embed against that alone, by CMake and by
# pkg-config, and runs both. What the library lets others see is clvet's own.
set -euo pipefail
build=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$source/ci/env.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
model=$CLVET_MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
wanted='value . is the largest: 0\.[0-9]*'

cmake --install "$build" --prefix "$folder/usr" >/dev/null
cmake -S "$source/samples/embed" -B "$folder/build" -DCMAKE_PREFIX_PATH="$folder/usr" >/dev/null
cmake --build "$folder/build" >/dev/null
"$folder/build/classify" "$model" host x=1x3x48x192 | grep "$wanted"

# The larger samples, too: each reads what it is known to read.
for sample in ocr camera; do
  cmake -S "$source/samples/$sample" -B "$folder/$sample" -DCMAKE_PREFIX_PATH="$folder/usr" >/dev/null
  cmake --build "$folder/$sample" >/dev/null
done
"$folder/ocr/clvet_ocr" "$source/tests/data/images/page.png" --device host --models "$CLVET_MODELS" >"$folder/page"
cmp <(sed 's/^[0-9.]*  //' "$folder/page" | tr -d ' ') <(tr -d ' ' <"$source/tests/data/images/page.txt")
"$folder/camera/clvet_camera" "$CLVET_MODELS/ch_PP-OCRv4_det_infer.onnx" --device host --frames 3 --deadline 60000 |
  grep '3 frames computed, 0 dropped'

flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$folder/usr" -name clvet.pc)") pkg-config --define-prefix --cflags --libs clvet)
library=$(dirname "$(find "$folder/usr" -name libclvet.so)")
# shellcheck disable=SC2086
c++ -std=c++20 -o "$folder/classify" "$source/samples/embed/classify.cpp" $flags
LD_LIBRARY_PATH=$library "$folder/classify" "$model" host x=1x3x48x192 | grep "$wanted"
"$folder/usr/bin/clvet" --version

foreign=$(nm -DC --defined-only "$library/libclvet.so" | sed 's/^[^ ]* [A-Za-z] //' |
  grep -vE '^(non-virtual thunk to |typeinfo (name )?for |vtable for |guard variable for )?(clvet::v1::|std::|__gnu_cxx|void std::|.* std::)' || true)
[ -z "$foreign" ] || { echo "libclvet.so shows others' names:" >&2; head -20 <<<"$foreign" >&2; exit 1; }
