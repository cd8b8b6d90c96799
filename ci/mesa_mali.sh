#!/bin/bash
# ci/mesa_mali.sh ROOT: builds Mesa's Mali compilers from Debian's source package for the Debian 13 root ROOT
# (ci/drivers.sh trixie) and puts them at ROOT/opt/mesa-mali: rusticl, panfrost, the shim that stands for the kernel driver
# and does nothing, and syncfix, which completes it. Root; about 12 minutes on two cores, 4 GB for the while.
# MALI ids that the shim knows, for PAN_GPU_ID: 0x860 T860, 0x6221 G72, 0x7212 G52, 0x9093 G57, 0xa867 G610, 0xac74 G310.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
[ $# -eq 1 ] || { sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}"; exit 2; }
[ "$(id -u)" = 0 ] || die "building in a Debian root needs root"
root=$(cd "$1" && pwd)
build=$root-mesa
trap 'rm -rf "$build"' EXIT # nothing is mounted below it: mounts belong to in_build's own namespace

in_build() {
  unshare -m --propagation private bash -euc '
    root=$1
    shift
    for name in proc sys dev; do mount --rbind "/$name" "$root/$name"; done
    exec chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"' _ "$build" "$@"
}

say "copying $root and installing what Mesa is built with"
rm -rf "$build"
cp -a "$root" "$build"
[ -e /etc/resolv.conf ] && cp -L /etc/resolv.conf "$build/etc/resolv.conf"
sed -n 's/^deb /deb-src /p' "$root/etc/apt/sources.list" >"$build/etc/apt/sources.list.d/sources.list"
in_build apt-get -q -o Acquire::Retries=3 update >&2
in_build apt-get -q -y --no-install-recommends build-dep mesa >&2
in_build bash -c 'mkdir -p /mesa && cd /mesa && apt-get -q source mesa' >&2

cat >"$build/mesa/syncfix.c" <<'C'
// The shim exports no descriptor for a sync object: an exported sync file must be a real one, always readable.
#include <fcntl.h>
#include <stdint.h>
int drmSyncobjExportSyncFile(int fd, uint32_t handle, int* out) {
  (void)fd;
  (void)handle;
  *out = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return *out < 0 ? -1 : 0;
}
C

say "building Mesa"
in_build bash -euc '
  cd /mesa/mesa-*/
  meson setup build --prefix=/opt/mesa-mali --libdir=lib --wrap-mode=nodownload -Dbuildtype=release -Db_ndebug=true \
    -Dgallium-drivers=panfrost,llvmpipe -Dvulkan-drivers= -Dgallium-rusticl=true -Dllvm=enabled -Dtools=drm-shim,panfrost \
    -Dplatforms= -Dglx=disabled -Degl=disabled -Dgbm=disabled -Dopengl=false -Dgles1=disabled -Dgles2=disabled \
    -Dgallium-va=disabled -Dgallium-vdpau=disabled -Dvideo-codecs= -Dvalgrind=disabled -Dlmsensors=disabled \
    -Dlibunwind=disabled
  ninja -C build
  ninja -C build install
  gcc -O2 -shared -fPIC -o /opt/mesa-mali/lib/libsyncfix.so /mesa/syncfix.c
  find /opt/mesa-mali -name "libpanfrost_noop_drm_shim.so" -not -path "/opt/mesa-mali/lib/*" -exec mv {} /opt/mesa-mali/lib/ \;
  mkdir -p /opt/mesa-mali/etc/OpenCL/vendors
  echo /opt/mesa-mali/lib/libRusticlOpenCL.so.1 >/opt/mesa-mali/etc/OpenCL/vendors/rusticl.icd
  strip /opt/mesa-mali/lib/*.so* 2>/dev/null || true
  rm -rf /opt/mesa-mali/include /opt/mesa-mali/lib/pkgconfig /opt/mesa-mali/bin' >&2
for name in libRusticlOpenCL.so.1 libpanfrost_noop_drm_shim.so libsyncfix.so; do
  [ -e "$build/opt/mesa-mali/lib/$name" ] || die "Mesa was built without $name"
done
rm -rf "$root/opt/mesa-mali"
mkdir -p "$root/opt"
mv "$build/opt/mesa-mali" "$root/opt/mesa-mali"
say "Mali compilers are in $root/opt/mesa-mali"
