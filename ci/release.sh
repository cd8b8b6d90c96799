#!/bin/bash
# ci/release.sh [x86-64|arm64]...: for both machines, or those named, by Debian 12's compiler on Debian 11's C library:
#   build/release/clvet-x86-64, clvet-arm64   the one file for boards
#   build/release/x86-64, arm64               what `cmake --install` installs: program, library, headers, completion, manual pages
# Programs and libraries are checked (ci/check_release.sh). No root needed after `ci/setup.sh --release`. Running it again builds
# what changed. CMAKE_BUILD_PARALLEL_LEVEL limits the jobs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
. "$CLVET_ROOT/ci/debian.sh"
cd "$CLVET_ROOT"

c_library=(libc6/bullseye libc6-dev/bullseye linux-libc-dev/bullseye)
libraries=(libcli11-dev libeigen3-dev libexpected-dev libfmt-dev libpcre2-dev libprotobuf-dev libspeexdsp-dev libstb-dev
  nettle-dev nlohmann-json3-dev opencl-c-headers)

# names NAME: sets debian (what Debian calls the machine) and triplet
names() {
  case $1 in
    x86-64) debian=amd64 triplet=x86_64-linux-gnu ;;
    arm64) debian=arm64 triplet=aarch64-linux-gnu ;;
    *) sed -n '2,6s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
  command -v "$triplet-g++" >/dev/null || die "$triplet-g++ not found: run 'bash ci/setup.sh --release'"
}

# lite_library FOLDER: libprotobuf-lite-pic.a in the sysroot, of the source of its libprotobuf-dev. Debian's own archive cannot
# become part of a shared library, and Debian's shared library needs a newer glibc.
lite_library() {
  local folder=$1 work=$1-protobuf
  say "building protobuf-lite for $debian"
  rm -rf "$work"
  debian_source "$work" bookworm protobuf || die "no source of protobuf"
  {
    cmake -G Ninja -S "$work/protobuf" -B "$work/build" --toolchain "$CLVET_ROOT/ci/release/toolchain.cmake" \
      -DCLVET_TRIPLET="$triplet" -DCLVET_SYSROOT="$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
      -DCMAKE_POSITION_INDEPENDENT_CODE=ON -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF -Dprotobuf_WITH_ZLIB=OFF &&
      cmake --build "$work/build" --target libprotobuf-lite
  } >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "protobuf-lite cannot be built for $debian"; }
  mv "$work/build/libprotobuf-lite.a" "$folder/libprotobuf-lite-pic.a"
  rm -rf "$work"
}

# make_sysroot FOLDER: headers and libraries of the machine `names` set; made again only where what goes into it changed.
make_sysroot() {
  local folder=$1 apt=$1-apt source=ci/release/old_glibc.c version packages state
  version=$("$triplet-gcc" -dumpversion)
  packages=("${c_library[@]}" "libstdc++-$version-dev" "${libraries[@]}")
  state="${packages[*]} protobuf-lite $(sha256sum <"$source")"
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
  lite_library "$folder"
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
    -DCLVET_SYSROOT="$sysroot" -DCLVET_TESTS=OFF -DCLVET_SMALL=ON -DPROTOBUF_LITE_PIC="$sysroot/libprotobuf-lite-pic.a" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCLVET_ZSH_FOLDER=share/zsh/site-functions -DCLVET_PACKAGES="$debian" "${launcher[@]}" >&2
  echo "$made_from" >"$build/.made_from"
  cmake --build "$build" --target clvet clvet_pages clvet_library clvet_static >&2
  rm -rf "build/release/.$1"
  cmake --install "$build" --strip --prefix "build/release/.$1" >/dev/null
  cp "build/release/.$1/bin/clvet" "build/release/.clvet-$1"
  mv "build/release/.clvet-$1" "build/release/clvet-$1"
  rm -rf "build/release/$1"
  mv "build/release/.$1" "build/release/$1"
  bash ci/check_release.sh "build/release/clvet-$1" "build/release/$1/lib/libclvet.so"
}

[ $# -gt 0 ] || set -- x86-64 arm64
mkdir -p "$CLVET_SETUP_CACHE/release"
exec 9>"$CLVET_SETUP_CACHE/release/lock"
flock 9 # two at once take turns
for machine in "$@"; do release "$machine"; done
