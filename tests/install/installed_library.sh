#!/bin/bash
# installed_library.sh BUILD: installs into a folder of its own, builds samples/embed and samples/c against that alone, by CMake
# and by pkg-config, and runs each. What the library lets others see is clvet's own.
set -euo pipefail
build=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$source/ci/env.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
model=$CLVET_MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
wanted='value . is the largest: 0\.[0-9]*'

cmake --install "$build" --prefix "$folder/usr" >/dev/null
for sample in embed c; do
  cmake -S "$source/samples/$sample" -B "$folder/$sample" -DCMAKE_PREFIX_PATH="$folder/usr" >/dev/null
  cmake --build "$folder/$sample" >/dev/null
  "$folder/$sample/classify" "$model" host x=1x3x48x192 | grep "$wanted"
done

flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$folder/usr" -name clvet.pc)") pkg-config --define-prefix --cflags --libs clvet)
library=$(dirname "$(find "$folder/usr" -name libclvet.so)")
# shellcheck disable=SC2086
c++ -std=c++20 -o "$folder/classify" "$source/samples/embed/classify.cpp" $flags
# shellcheck disable=SC2086
cc -std=c99 -Wall -Wextra -pedantic-errors -Werror -o "$folder/classify_c" "$source/samples/c/classify.c" $flags
for program in classify classify_c; do
  LD_LIBRARY_PATH=$library "$folder/$program" "$model" host x=1x3x48x192 | grep "$wanted"
done
"$folder/usr/bin/clvet" --version

foreign=$(nm -DC --defined-only "$library/libclvet.so" | sed 's/^[^ ]* [A-Za-z] //' |
  grep -vE '^(non-virtual thunk to |typeinfo (name )?for |vtable for |guard variable for )?(clvet::v1::|std::|__gnu_cxx|void std::|.* std::)' |
  grep -vE '^(_ZNSt|clvet_[a-z0-9_]+@@CLVET_1$|CLVET_1$)' || true)
[ -z "$foreign" ] || { echo "libclvet.so shows others' names:" >&2; head -20 <<<"$foreign" >&2; exit 1; }

# Each function of the header for C is there, and none that it does not name.
declared=$(grep -oE '\bclvet_[a-z0-9_]+\(' "$folder/usr/include/clvet/clvet_c.h" | tr -d '(' | sort -u)
shown=$(nm -D --defined-only "$library/libclvet.so" | sed -n 's/^.* \(clvet_[a-z0-9_]*\)@@CLVET_1$/\1/p' | sort -u)
[ "$declared" = "$shown" ] || { diff <(echo "$declared") <(echo "$shown") >&2; exit 1; }
