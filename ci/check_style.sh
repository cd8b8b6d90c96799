#!/bin/bash
# ci/check_style.sh [--fix]: every C++ file laid out as .clang-format says (version 14, Debian 12's).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

tool=$(command -v clang-format-14 || command -v clang-format) || { echo "clang-format not found; ci/setup.sh --test installs it" >&2; exit 1; }
if ! "$tool" --version | grep -q 'version 14\.'; then
  echo "$tool is not version 14: layout not checked" >&2
  exit 0
fi
mapfile -d '' files < <(find base kernels probe runtime reports cli samples tests \
  \( -name '*.h' -o -name '*.cpp' \) -type f -print0 2>/dev/null | sort -z)
[ ${#files[@]} -gt 0 ] || exit 0
if [ "${1:-}" = --fix ]; then exec "$tool" -i "${files[@]}"; fi
bad=()
for file in "${files[@]}"; do
  "$tool" --dry-run -Werror "$file" >/dev/null 2>&1 || bad+=("$file")
done
if [ ${#bad[@]} -gt 0 ]; then
  printf '%s: not laid out as .clang-format says\n' "${bad[@]}" >&2
  echo "cure: bash ci/check_style.sh --fix" >&2
  exit 1
fi
echo "style: ${#files[@]} files in order"
