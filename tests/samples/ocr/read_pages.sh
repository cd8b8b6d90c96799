#!/bin/bash
# read_pages.sh CLVET CLVET_OCR STATE_DIR REPORT: read_pages.py with a state folder of its own and that report of the
# system's drivers in it, on what `bash ci/setup.sh --test` installs.
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/../../../ci/env.sh"
export CLVET_STATE_DIR=$3
rm -rf "$3"
mkdir -p "$3"
cp "$4" "$3/report.json"
exec "$CLVET_TEST_PYTHON" "$CLVET_ROOT/tests/samples/ocr/read_pages.py" "$1" "$2" "$CLVET_MODELS" \
  "$CLVET_ROOT/tests/data/images" "$CLVET_ROOT/ci/render_text.py" /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
