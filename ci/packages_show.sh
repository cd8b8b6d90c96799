#!/bin/bash
# ci/packages_show.sh [amd64|arm64]...: the packages of ci/packages.sh where they are to be used: installed by dpkg in a Debian 12
# (amd64: also 11) that holds nothing of this source tree. The program, completion and manual pages are there, and a model is answered; a program is
# built against libclvet-dev (amd64: in that root, by CMake and pkg-config; arm64: by the cross compiler) and runs on the host; on
# amd64 so are all of samples/.
# Needs what ci/release_show.sh needs. The roots lie below the set-up's cache.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
. "$CLVET_ROOT/ci/debian.sh"
. "$CLVET_ROOT/ci/show.sh"
roots=$CLVET_SETUP_CACHE/packages
model=ch_ppocr_mobile_v2.0_cls_infer.onnx
answer='value . is the largest: 0\.[0-9]*'
bare=(bash coreutils dash diffutils dpkg findutils grep gzip libc-bin man-db sed tar)

# prepare NAME PACKAGE...: the root, a fresh folder that is its /tmp/show, and our packages installed
prepare() {
  local name=$1 show=$roots/show packages
  root=$roots/debian12-$name
  packages=$(compgen -G "$CLVET_ROOT/build/packages/*_$name.deb") || die "no packages: run 'bash ci/packages.sh $name' first"
  [ -e "$CLVET_MODELS/$model" ] || die "no model: run 'bash ci/setup.sh --release' first"
  debian_root "$root" "$name" bookworm "${@:2}"
  rm -rf "$show"
  mkdir -p "$show"
  # shellcheck disable=SC2086
  cp $packages "$CLVET_MODELS"/ch_*.onnx "$CLVET_ROOT"/tests/data/images/{text-1,page}.png "$show/"
  cp -r "$CLVET_ROOT"/samples/{c,camera,embed,ocr} "$show/"
  in_root "$root" dpkg --purge clvet libclvet-dev "$(library_name "$name")" >/dev/null 2>&1 || true
  in_root "$root" ldconfig
  expect "$name: dpkg" 0 '^Setting up clvet ' in_root "$root" bash -c 'dpkg --install /tmp/show/*.deb'
  [ "$failed" = 0 ] || exit 1
}
library_name() { basename "$(compgen -G "$CLVET_ROOT/build/packages/libclvet0*_$1.deb")" | sed 's/_.*//'; }

# installed NAME: what a user of the program has
installed() {
  local version
  version=$(project_version)
  expect "$1: clvet --version" 0 "^clvet $version\$" in_root "$root" clvet --version
  expect "$1: man clvet-run" 0 'clvet-run . runs|clvet-run . ' in_root "$root" man --pager=cat clvet-run
  for file in bash-completion/completions/clvet zsh/vendor-completions/_clvet fish/vendor_completions.d/clvet.fish doc/clvet/copyright; do
    expect "$1: $file" 0 "$file" in_root "$root" ls "/usr/share/$file"
  done
  expect "$1: clvet run" 0 'class 0 +(0\.99|1\.00)' in_root "$root" clvet run "/tmp/show/$model" --device host --top 1 \
    --input x=/tmp/show/text-1.png --image-size 192x48 --mean 127.5 --scale 0.00784313725 --bgr --output-dir /tmp/show/run
}

# older: the oldest Debian that the packages are for
older() {
  root=$roots/debian11-amd64
  debian_root "$root" amd64 bullseye "${bare[@]}"
  in_root "$root" dpkg --purge clvet "$(library_name amd64)" >/dev/null 2>&1 || true
  expect 'Debian 11: dpkg' 0 '^Setting up clvet ' in_root "$root" bash -c 'dpkg --install /tmp/show/clvet_*.deb /tmp/show/libclvet0*.deb'
  installed 'Debian 11'
  expect 'Debian 11: the library' 0 'libclvet\.so\.0.*=>' in_root "$root" bash -c 'ldconfig -p | grep libclvet'
}

# sample NAME PATTERN PROGRAM ARGUMENT...: built by CMake in the root, then run
sample() {
  expect "amd64: samples/$1 is built" 0 'Built target' in_root "$root" bash -c \
    'cmake -S /tmp/show/$0 -B /tmp/b && cmake --build /tmp/b && cp -r /tmp/b /tmp/show/build-$0' "$1"
  expect "amd64: samples/$1" 0 "$2" in_root "$root" "/tmp/show/build-$1/$3" "${@:4}"
}

show_amd64() {
  prepare amd64 "${bare[@]}" cmake g++ make pkg-config libcli11-dev libstb-dev nlohmann-json3-dev
  installed amd64
  expect 'amd64: CMake' 0 'Built target classify' in_root "$root" bash -c \
    'cmake -S /tmp/show/embed -B /tmp/b && cmake --build /tmp/b && cp /tmp/b/classify /tmp/show/shared'
  expect 'amd64: CMake, static' 0 'Built target classify' in_root "$root" bash -c \
    'cmake -S /tmp/show/embed -B /tmp/b -DCLVET_LINK=static && cmake --build /tmp/b && cp /tmp/b/classify /tmp/show/static'
  for kind in clvet clvet-static; do
    expect "amd64: pkg-config $kind" 0 'done' in_root "$root" bash -c \
      'g++ -std=c++20 -o /tmp/show/$0 /tmp/show/embed/classify.cpp $(pkg-config --cflags --libs $0) && echo done' "$kind"
  done
  for program in shared static clvet clvet-static; do
    expect "amd64: the program '$program'" 0 "$answer" in_root "$root" "/tmp/show/$program" "/tmp/show/$model" host x=1x3x48x192
  done
  sample c "$answer" classify "/tmp/show/$model" host x=1x3x48x192
  sample ocr 'OpenCL says what it can do' clvet_ocr /tmp/show/page.png --models /tmp/show --device host
  sample camera '3 frames computed, 0 dropped' clvet_camera /tmp/show/ch_PP-OCRv4_det_infer.onnx --device host --frames 3
  # The tree that `cmake --install` made, where no package of ours is.
  cp -r "$CLVET_ROOT/build/release/x86-64" "$roots/show/prefix"
  in_root "$root" dpkg --purge libclvet-dev clvet "$(library_name amd64)" >/dev/null
  expect 'amd64: an installed tree: samples/embed is built' 0 'Built target' in_root "$root" bash -c \
    'cmake -S /tmp/show/embed -B /tmp/b -DCMAKE_PREFIX_PATH=/tmp/show/prefix && cmake --build /tmp/b && cp /tmp/b/classify /tmp/show/prefixed'
  expect 'amd64: an installed tree: samples/embed' 0 "$answer" in_root "$root" env LD_LIBRARY_PATH=/tmp/show/prefix/lib \
    /tmp/show/prefixed "/tmp/show/$model" host x=1x3x48x192
  older
}

show_arm64() {
  prepare arm64 "${bare[@]}" libstdc++6
  installed arm64
  local libraries=$root/usr/lib/aarch64-linux-gnu kind
  aarch64-linux-gnu-g++ -std=c++20 -o "$roots/show/shared" "$CLVET_ROOT/samples/embed/classify.cpp" -I"$root/usr/include" \
    -L"$libraries" -lclvet
  aarch64-linux-gnu-g++ -std=c++20 -o "$roots/show/static" "$CLVET_ROOT/samples/embed/classify.cpp" -I"$root/usr/include" \
    "$libraries/libclvet.a"
  aarch64-linux-gnu-gcc -std=c99 -o "$roots/show/plain-c" "$CLVET_ROOT/samples/c/classify.c" -I"$root/usr/include" -L"$libraries" -lclvet
  for kind in shared static plain-c; do
    expect "arm64: the program '$kind'" 0 "$answer" in_root "$root" "/tmp/show/$kind" "/tmp/show/$model" host x=1x3x48x192
  done
}

[ $# -gt 0 ] || set -- amd64 arm64
for machine in "$@"; do
  declare -F "show_$machine" >/dev/null || { sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
done
mkdir -p "$roots"
exec 9>"$roots/show.lock"
flock 9
for machine in "$@"; do "show_$machine"; done
exit "$failed"
