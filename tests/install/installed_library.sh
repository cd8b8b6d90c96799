#!/bin/bash
# installed_library.sh BUILD: installs into folders of its own and looks at what is there: all that belongs to each component, and
# nothing else. Then it builds samples/embed and samples/c against that alone, by CMake and by pkg-config, with the shared and the
# static library, and runs each. What the shared library lets others see is clvet's own; what the static one brings meets no name of the
# program's.
set -euo pipefail
build=$(realpath "$1")
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$source/ci/env.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
model=$CLVET_MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
wanted='value . is the largest: 0\.[0-9]*'
variable() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
version=$(variable CMAKE_PROJECT_VERSION)
libraries=$(variable CMAKE_INSTALL_LIBDIR)
static=$(find "$build/runtime" -maxdepth 1 -name libclvet.a) # the sanitizers have none

# files_of COMPONENT: what it has to consist of
files_of() {
  local name
  case $1 in
    program)
      printf '%s\n' bin/clvet share/bash-completion/completions/clvet "$(variable CLVET_ZSH_FOLDER)/_clvet" \
        share/fish/vendor_completions.d/clvet.fish share/doc/clvet/{CHANGELOG.md,LICENSE,copyright}
      "$build/cli/clvet" manual "$folder/pages" >/dev/null
      for name in "$folder"/pages/*; do echo "share/man/man1/${name##*/}.gz"; done
      ;;
    library) printf '%s\n' "$libraries/libclvet.so.${version%.*}" "$libraries/libclvet.so.$version" ;;
    dev)
      (cd "$source/runtime" && find include/clvet -type f)
      printf '%s\n' "$libraries"/{libclvet.so,pkgconfig/clvet.pc,pkgconfig/clvet-static.pc}
      printf '%s\n' "$libraries"/cmake/clvet/clvetConfig{,Version,-release}.cmake
      [ -z "$static" ] || echo "$libraries/libclvet.a"
      ;;
  esac
}
for component in program library dev; do
  cmake --install "$build" --prefix "$folder/$component" --component "$component" >/dev/null
  diff <(files_of "$component" | sort) <(cd "$folder/$component" && find . ! -type d -printf '%P\n' |
    sed 's/-relwithdebinfo\.cmake/-release.cmake/' | sort) || {
    echo "component '$component' does not install what it should (< should, > does)" >&2
    exit 1
  }
done
cmake --install "$build" --prefix "$folder/usr" >/dev/null
diff <(cd "$folder" && find program library dev ! -type d -printf '%P\n' | sort) <(cd "$folder/usr" && find . ! -type d -printf '%P\n' | sort)

# The larger samples, too: each reads what it is known to read.
for sample in ocr camera; do
  cmake -S "$source/samples/$sample" -B "$folder/$sample" -DCMAKE_PREFIX_PATH="$folder/usr" >/dev/null
  cmake --build "$folder/$sample" >/dev/null
done
"$folder/ocr/clvet_ocr" "$source/tests/data/images/page.png" --device host --models "$CLVET_MODELS" >"$folder/page"
cmp <(sed 's/^[0-9.]*  //' "$folder/page" | tr -d ' ') <(tr -d ' ' <"$source/tests/data/images/page.txt")
"$folder/camera/clvet_camera" "$CLVET_MODELS/ch_PP-OCRv4_det_infer.onnx" --device host --frames 3 --deadline 60000 |
  grep '3 frames computed, 0 dropped'

for shell in bash:share/bash-completion/completions/clvet fish:share/fish/vendor_completions.d/clvet.fish; do
  diff <("$build/cli/clvet" completion "${shell%%:*}") "$folder/usr/${shell#*:}"
done
[ "$("$folder/usr/bin/clvet" --version)" = "clvet $version" ]

classify() { "$1" "$model" host x=1x3x48x192 | grep "$wanted"; }
kinds=(clvet)
[ -z "$static" ] || kinds+=(static)
for kind in "${kinds[@]}"; do
  cmake -S "$source/samples/embed" -B "$folder/build-$kind" -DCMAKE_PREFIX_PATH="$folder/usr" -DCLVET_LINK="$kind" >/dev/null
  cmake --build "$folder/build-$kind" >/dev/null
  classify "$folder/build-$kind/classify"
done
cmake -S "$source/samples/c" -B "$folder/build-c" -DCMAKE_PREFIX_PATH="$folder/usr" >/dev/null
cmake --build "$folder/build-c" >/dev/null
classify "$folder/build-c/classify"

# compile SOURCE OPTION...: by pkg-config's word, wherever the folder has been moved to
mv "$folder/usr" "$folder/moved"
export PKG_CONFIG_PATH=$folder/moved/$libraries/pkgconfig
compile() { c++ -std=c++20 -o "$folder/linked" "$@"; }
compile_c() { cc -std=c99 -Wall -Wextra -pedantic-errors -Werror -o "$folder/linked" "$source/samples/c/classify.c" "$@"; }
# shellcheck disable=SC2046
compile "$source/samples/embed/classify.cpp" $(pkg-config --cflags --libs clvet)
LD_LIBRARY_PATH=$folder/moved/$libraries classify "$folder/linked"
# shellcheck disable=SC2046
compile_c $(pkg-config --cflags --libs clvet)
LD_LIBRARY_PATH=$folder/moved/$libraries classify "$folder/linked"
if [ -n "$static" ]; then
  # shellcheck disable=SC2046
  compile "$source/tests/install/own_names.cpp" $(pkg-config --cflags --libs clvet-static) "$(variable PROTOBUF_LITE_STATIC)"
  classify "$folder/linked"
  if readelf -d "$folder/linked" | grep 'libclvet\|protobuf'; then exit 1; fi
  # shellcheck disable=SC2046
  compile_c $(pkg-config --cflags --libs clvet-static)
  classify "$folder/linked"
  rm "$folder/moved/$libraries"/libclvet.so*
  # shellcheck disable=SC2046
  compile "$source/samples/embed/classify.cpp" $(pkg-config --static --cflags --libs clvet)
  classify "$folder/linked"
fi

foreign=$(nm -DC --defined-only "$folder/library/$libraries/libclvet.so.$version" | sed 's/^[^ ]* [A-Za-z] //' |
  grep -vE '^((non-virtual thunk to |typeinfo (name )?for |vtable for |guard variable for )?clvet::v1::|clvet_|CLVET_)' || true)
[ -z "$foreign" ] || { echo "libclvet.so shows others' names:" >&2; head -20 <<<"$foreign" >&2; exit 1; }

# Each function of the header for C is there, and none that it does not name.
declared=$(grep -oE '\bclvet_[a-z0-9_]+\(' "$folder/dev/include/clvet/clvet_c.h" | tr -d '(' | sort -u)
shown=$(nm -D --defined-only "$folder/library/$libraries/libclvet.so.$version" | sed -n 's/^.* \(clvet_[a-z0-9_]*\)@@CLVET_1$/\1/p' | sort -u)
[ "$declared" = "$shown" ] || { diff <(echo "$declared") <(echo "$shown") >&2; exit 1; }
