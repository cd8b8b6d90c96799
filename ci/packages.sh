#!/bin/bash
# ci/packages.sh [amd64|arm64]...: Debian packages in build/packages, for both machines or those named: clvet (the program),
# libclvet0.1 (the shared library; the number is the library's), libclvet-dev (headers, static library, CMake, pkg-config). They hold
# what ci/release.sh built, and so need glibc 2.31 and nothing else. No root needed after `ci/setup.sh --release`.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$CLVET_ROOT"
declare -A machines=([amd64]=x86-64 [arm64]=arm64) triplets=([amd64]=x86_64-linux-gnu [arm64]=aarch64-linux-gnu)

# package NAME
package() {
  local build=build-release-${machines[$1]} log
  bash ci/release.sh "${machines[$1]}"
  say "packing for $1"
  # Debian has folders of its own for libraries of each machine, and for zsh. The next ci/release.sh sets them back.
  cmake "$build" -DCMAKE_INSTALL_LIBDIR="lib/${triplets[$1]}" -DCLVET_ZSH_FOLDER=share/zsh/vendor-completions >/dev/null
  mkdir -p build/packages
  rm -f build/packages/*_"$1".deb
  log=$(cd "$build" && cpack -G DEB -B "$CLVET_ROOT/build/packages" 2>&1) || { tail -n 20 <<<"$log" >&2; die "no packages for $1"; }
  rm -rf build/packages/_CPack_Packages
  for file in build/packages/*_"$1".deb; do
    echo "$file: $(stat -c %s "$file") bytes, needs $(dpkg-deb --field "$file" Depends)"
  done
  # lintian as a user of its own says less; tags that are Debian's alone are left out.
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error --tag-display-limit 0 --suppress-tags "$(paste -sd, packages/lintian_off.txt)" \
      build/packages/*_"$1".deb >&2 || die "lintian finds errors in the packages for $1"
  fi
}

# The day of the sources, not of the build.
if [ -z "${SOURCE_DATE_EPOCH:-}" ] && day=$(git log -1 --format=%ct 2>/dev/null); then export SOURCE_DATE_EPOCH=$day; fi
[ $# -gt 0 ] || set -- amd64 arm64
for name in "$@"; do
  [ -n "${machines[$name]:-}" ] || { sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
done
for name in "$@"; do package "$name"; done
