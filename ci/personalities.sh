#!/bin/bash
# ci/personalities.sh [FRAMEWORK...]: do real programs look for OpenCL as probe/data/cl/personalities.json says of their framework?
# Each runs under strace where the names of its row are absent, there, or there without OpenCL, one by one
# (ci/personalities.py has the cases). Exit 1: one differs; 77: not root, no strace, or no program of these here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

if [ "$(id -u)" != 0 ] || ! command -v strace >/dev/null || ! unshare -m true 2>/dev/null; then
  say "personalities: needs root, strace and mount namespaces: not tried"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Only in this command's own namespace: /usr without the library, by an overlay in memory.
unshare -m --propagation private bash -euc '
  work=$1 root=$2
  shift 2
  mount -t tmpfs none "$work"
  mkdir "$work/upper" "$work/inner" "$work/seen"
  cp "$(readlink -f "$(ldconfig -p | sed -n "s/.*libOpenCL\.so\.1 .*=> //p" | head -n 1)")" "$work/loader.so"
  gcc -shared -x c /dev/null -o "$work/plain.so"
  if [ -e /usr/include/opencv4/opencv2/core/ocl.hpp ]; then
    printf "#include <opencv2/core/ocl.hpp>\nint main() { return cv::ocl::haveOpenCL() ? 0 : 1; }\n" >"$work/opencv.cpp"
    g++ -O0 -I/usr/include/opencv4 "$work/opencv.cpp" -o "$work/opencv" -lopencv_core
  fi
  mount -t overlay none -o "lowerdir=/usr,upperdir=$work/upper,workdir=$work/inner" /usr
  find /usr/lib* /usr/local/lib -maxdepth 3 -name "libOpenCL.so*" -delete
  exec /usr/bin/python3 "$root/ci/personalities.py" "$work" "$@"' _ "$work" "$CLVET_ROOT" "$@"
