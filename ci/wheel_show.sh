#!/bin/bash
# ci/wheel_show.sh [ROOT]...: the wheels of ci/wheel.sh where they are to be used: installed by pip, with numpy, in roots that hold
# Python (and libstdc++6, which numpy wants) and nothing of this source tree. A session answers as the program does, text comes piece
# by piece, a misuse has its name, and `python -m clvet` is the program. ROOT: debian11 (Python 3.9), debian12 (3.11), debian13
# (3.13), debian12-arm64 (by qemu); all, if none is named. Needs what ci/release_show.sh needs. The roots lie below the set-up's cache.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
. "$CLVET_ROOT/ci/debian.sh"
. "$CLVET_ROOT/ci/show.sh"
roots=$CLVET_SETUP_CACHE/wheel
model=ch_ppocr_mobile_v2.0_cls_infer.onnx
language_model=SmolLM2-135M-Instruct.Q4_1.gguf

# show_in NAME RELEASE DEBIAN'S_MACHINE PYTHON'S_MACHINE PYTHON
show_in() {
  local name=$1 release=$2 debian=$3 machine=$4 python=$5 root=$roots/$1 show=$roots/show wheel
  wheel=$(compgen -G "$CLVET_ROOT/build/release/clvet-*-py3-none-manylinux_2_31_$machine.whl") ||
    die "no wheel for $machine: run 'bash ci/release.sh' and 'bash ci/wheel.sh' first"
  [ -e "$CLVET_MODELS/$language_model" ] || die "no models: run 'bash ci/setup.sh --models' first"
  debian_root "$root" "$debian" "$release" bash coreutils libc-bin libstdc++6 python3 python3-pip
  # What a package's own script would have made; Debian's pip does not start without.
  mkdir -p "$root/etc/ssl/certs"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  rm -rf "$show"
  mkdir -p "$show/wheels"
  cp "$CLVET_MODELS/$model" "$CLVET_MODELS/$language_model" "$CLVET_ROOT/samples/python/classify.py" "$show/"
  cp "$CLVET_ROOT/ci/wheel_show.py" "$show/"
  cp "$wheel" "$show/wheels/"
  python -m pip download -q --retries 5 --no-deps --only-binary :all: --require-hashes --implementation cp \
    --python-version "$python" --platform "manylinux2014_$machine" -d "$show/wheels" -r <(numpy_for "$python") >&2
  in_root "$root" ldconfig
  expect "$name: pip install" 0 'Successfully installed clvet' in_root "$root" bash -c \
    'python3 -m pip install --no-index --no-cache-dir --find-links /tmp/show/wheels --target /tmp/show/site clvet'
  local with=(in_root "$root" env PYTHONPATH=/tmp/show/site python3 -W error)
  expect "$name: Python $python" 0 "^3\.${python#3.}\." "${with[@]}" -c 'import sys; print(sys.version)'
  expect "$name: classify.py" 0 'is the largest: 0\.5' "${with[@]}" /tmp/show/classify.py "/tmp/show/$model" host x=1x3x48x192
  expect "$name: sessions and text" 0 '^all right$' "${with[@]}" /tmp/show/wheel_show.py "/tmp/show/$model" "/tmp/show/$language_model"
  expect "$name: python -m clvet" 0 "^clvet $(project_version)\$" "${with[@]}" -m clvet --version
  expect "$name: the script" 0 "^clvet $(project_version)\$" in_root "$root" env PYTHONPATH=/tmp/show/site /tmp/show/site/bin/clvet --version
}

# numpy_for PYTHON: its row of the requirements, whatever Python asks
numpy_for() {
  local version=2.0.2
  [ "$1" != 3.13 ] || version=2.1.3
  sed -n "/^numpy==$version/,/[^\\\\]\$/p" "$CLVET_ROOT/ci/requirements-wheel-show.txt" | sed 's/; python_version[^\\]*//'
}

show_debian11() { show_in debian11 bullseye amd64 x86_64 3.9; }
show_debian12() { show_in debian12 bookworm amd64 x86_64 3.11; }
show_debian13() { show_in debian13 trixie amd64 x86_64 3.13; }
show_debian12-arm64() { show_in debian12-arm64 bookworm arm64 aarch64 3.11; }

[ $# -gt 0 ] || set -- debian11 debian12 debian13 debian12-arm64
for name in "$@"; do
  declare -F "show_$name" >/dev/null || { sed -n '2,6s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
done
mkdir -p "$roots"
exec 9>"$roots/show.lock"
flock 9
for name in "$@"; do "show_$name"; done
exit "$failed"
