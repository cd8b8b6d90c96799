# shellcheck shell=bash
# Sourced by the other scripts: where set-up keeps what it fetched. Nothing here installs or builds.
#   CLVET_MODELS       folder of the models
#   CLVET_TEST_PYTHON  python with onnx, onnxruntime, numpy, pillow (tests only)
#   CLVET_TEST_TRIXIE  a Debian 13 root with newer drivers (ci/drivers.sh trixie; nightly tests only)
#   CLVET_TEST_INTEL   Intel's runtime; use it with OCL_ICD_VENDORS=$CLVET_TEST_INTEL/icd (tests only)
CLVET_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CLVET_SETUP_CACHE=${CLVET_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/clvet}
export CLVET_ROOT CLVET_SETUP_CACHE
export CLVET_MODELS=$CLVET_SETUP_CACHE/models
export CLVET_TEST_PYTHON=$CLVET_SETUP_CACHE/test-venv/bin/python
export CLVET_TEST_INTEL=$CLVET_SETUP_CACHE/intel
export CLVET_TEST_TRIXIE=$CLVET_SETUP_CACHE/trixie
PATH=$PATH:/usr/sbin:/sbin

say() { printf 'clvet: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# The version of clvet, from the one place that says it.
project_version() { sed -n 's/^project(clvet VERSION \([0-9.]*\) .*/\1/p' "${1:-$CLVET_ROOT}/CMakeLists.txt"; }

# The distribution's own Python: the pinned wheels are made for it.
python() {
  if [ -x /usr/bin/python3 ]; then /usr/bin/python3 "$@"; else python3 "$@"; fi
}
