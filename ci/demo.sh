#!/bin/bash
# ci/demo.sh: set-up, build, probe this machine's OpenCL drivers, and let neural networks say which way up a
# line of text is and read a page, on the combination that the probe found right.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$CLVET_ROOT"

bash ci/setup.sh --demo

say "building into build/ (ci/test.sh goes on from there)"
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake --preset release -DCLVET_TESTS=OFF "${launcher[@]}" >/dev/null
cmake --build --preset release
clvet=$CLVET_ROOT/build/cli/clvet
out=$CLVET_ROOT/out/demo
mkdir -p "$out"

say "probing every OpenCL driver of this machine"
found=0
"$clvet" probe --out "$out/report.json" || found=$?
case $found in
  0) ;;
  1) say "OpenCL devices are here, but no combination is right: the model runs on the CPU" ;;
  3) say "no OpenCL device is here: the model runs on the CPU" ;;
  *) die "probe failed (exit $found)" ;;
esac

# run_image FILE EXPECTED
run_image() {
  say "recognising $1 (expected: $2)"
  "$clvet" run "$CLVET_MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx" --report "$out/report.json" \
    --input "x=$1" --image-size 192x48 --mean 127.5 --scale 0.00784313725 --layout nchw --bgr \
    --output-dir "$out/$(basename "$1" .png)" --top 1
}
run_image tests/data/images/text-1.png "class 0, upright"
run_image tests/data/images/text-2.png "class 1, upside down"

say "reading a page of six lines"
build/samples/ocr/clvet_ocr tests/data/images/page.png --models "$CLVET_MODELS" --report "$out/report.json"

echo
echo "compatibility report: $out/report.json"
echo "run records:          $out/text-1 and $out/text-2"
