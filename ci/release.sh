#!/bin/bash
# ci/release.sh [x86-64|arm64]...: the one file for boards, build/release/clvet-x86-64 and build/release/clvet-arm64 (both, if
# none is named), by Debian 12's compiler on Debian 11's C library, and checks each (ci/check_release.sh). No root needed after
# `ci/setup.sh --release`. Running it again builds what changed. CMAKE_BUILD_PARALLEL_LEVEL limits the jobs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
. "$CLVET_ROOT/ci/debian.sh"
cd "$CLVET_ROOT"

c_library=(libc6/bullseye libc6-dev/bullseye linux-libc-dev/bullseye)
libraries=(libcli11-dev libeigen3-dev libexpected-dev libfmt-dev libpcre2-dev libprotobuf-dev libstb-dev nettle-dev
  nlohmann-json3-dev opencl-c-headers)

# names NAME: sets debian (what Debian calls the machine) and triplet
names() {
  case $1 in
    x86-64) debian=amd64 triplet=x86_64-linux-gnu ;;
    arm64) debian=arm64 triplet=aarch64-linux-gnu ;;
    *) sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
  command -v "$triplet-g++" >/dev/null || die "$triplet-g++ not found: run 'bash ci/setup.sh --release'"
}

# make_sysroot FOLDER: headers and libraries of the machine `names` set; made again only where what goes into it changed.
make_sysroot() {
  local folder=$1 apt=$1-apt source=ci/release/old_glibc.c version packages state
  version=$("$triplet-gcc" -dumpversion)
  packages=("${c_library[@]}" "libstdc++-$version-dev" "${libraries[@]}")
  state="${packages[*]} $(sha256sum <"$source")"
  [ "$(cat "$folder/.ready" 2>/dev/null)" = "$state" ] && return 0
  say "fetching Debian's libraries for $debian"
  rm -rf "$folder" "$apt"
  debian_apt "$apt" "$debian" bullseye bookworm || die "no package lists for $debian"
  mkdir "$apt/files"
  (cd "$apt/files" && APT_CONFIG=$apt/apt.conf apt-get -q download "${packages[@]}") >"$apt/log" 2>&1 ||
    { tail -n 5 "$apt/log" >&2; die "no libraries for $debian"; }
  unpack_packages "$folder" "$apt"/files/*.deb || die "no libraries for $debian"
  rm -rf "$apt"
  "$triplet-gcc" --sysroot="$folder" -nostdinc -isystem "$("$triplet-gcc" -print-file-name=include)" \
    -isystem "$folder/usr/include/$triplet" -isystem "$folder/usr/include" -O2 -fPIC -Wall -Wextra -Werror \
    -c "$source" -o "$folder/old_glibc.o"
  echo "$state" >"$folder/.ready"
}

# release NAME
release() {
  local debian triplet sysroot=$CLVET_SETUP_CACHE/release/sysroot-$1 build=build-release-$1 made_from launcher=()
  names "$1"
  make_sysroot "$sysroot"
  made_from=$(sha256sum "$sysroot/.ready" ci/release/toolchain.cmake)
  [ "$(cat "$build/.made_from" 2>/dev/null)" = "$made_from" ] || rm -rf "$build"
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  say "building clvet for $1"
  cmake --preset release -B "$build" --toolchain ci/release/toolchain.cmake -DCLVET_TRIPLET="$triplet" \
    -DCLVET_SYSROOT="$sysroot" -DCLVET_TESTS=OFF "${launcher[@]}" >&2
  echo "$made_from" >"$build/.made_from"
  cmake --build "$build" --target clvet >&2
  mkdir -p build/release
  "$triplet-strip" -o "build/release/.clvet-$1" "$build/cli/clvet"
  mv "build/release/.clvet-$1" "build/release/clvet-$1"
  bash ci/check_release.sh "build/release/clvet-$1"
}

[ $# -gt 0 ] || set -- x86-64 arm64
mkdir -p "$CLVET_SETUP_CACHE/release"
exec 9>"$CLVET_SETUP_CACHE/release/lock"
flock 9 # two at once take turns
for machine in "$@"; do release "$machine"; done
